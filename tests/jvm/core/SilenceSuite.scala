package io.sparklatency

import io.sparklatency.figures.WatermarkPolicy
import io.sparklatency.time.Silence
import org.scalatest.funsuite.AnyFunSuite

/** When a source is idle, and what becomes of the watermark then. Times are in microseconds. */
class SilenceSuite extends AnyFunSuite {
  private def of(looks: (Long, Option[Boolean])*): Silence = {
    val silence = new Silence(10)
    looks.foreach { case (at, found) => silence.look(at, at + 1000, found, at) }
    silence
  }

  /** Of looks of each of which so much time came. */
  private def busy(looks: (Long, Option[Boolean], Long)*): Silence = {
    val silence = new Silence(10)
    looks.foreach { case (at, found, took) => silence.look(at, at + 1000, found, at + took) }
    silence
  }
  private val (record, nothing, unknown) = (Some(true), Some(false), None)

  test("a source is idle when nothing was found for the timeout, since its last record") {
    assert(of(1L -> record, 10L -> nothing).idleSinceMs === None)
    assert(of(1L -> record, 10L -> nothing, 11L -> nothing).idleSinceMs === Some(1001))
  }

  test("a source that has never spoken is silent since the first look") {
    assert(of(5L -> nothing).idleSinceMs === None)
    assert(of(5L -> nothing, 14L -> nothing).idleSinceMs === None)
    assert(of(5L -> nothing, 15L -> nothing).idleSinceMs === Some(1005))
  }

  test("what happens after the last look does not count, be it long ago") {
    assert(of(1L -> record, 5L -> nothing, 1000L -> record).idleSinceMs === None)
    assert(of(1L -> record, 5L -> nothing, 1000L -> record, 1009L -> nothing).idleSinceMs === None)
  }

  test("a record ends it at once, and the next silence is counted anew") {
    assert(of(1L -> record, 20L -> nothing, 21L -> record).idleSinceMs === None)
    assert(of(1L -> record, 20L -> nothing, 21L -> record, 30L -> nothing).idleSinceMs === None)
    assert(of(1L -> record, 20L -> nothing, 21L -> record, 31L -> nothing).idleSinceMs === Some(1021))
  }

  test("time in which it could not be told counts for nothing, and what was counted stays") {
    assert(of(1L -> record, 100L -> unknown, 109L -> nothing).idleSinceMs === None)
    assert(of(1L -> record, 7L -> nothing, 100L -> unknown, 104L -> nothing).idleSinceMs === Some(1001))
  }

  test(
    "Flink D3: with a timeout of 10 fresh, idle at 11 and still at 100, active with a record, idle again 22 later"
  ) {
    val silence = new Silence(10)
    def look(at: Long, found: Boolean): Boolean = {
      silence.look(at, at, Some(found), at)
      silence.idleSinceMs.nonEmpty
    }
    val looks = Seq(0L -> false, 11L -> false, 100L -> false, 100L -> true, 122L -> false, 123L -> true)
    assert(looks.map { case (at, found) => look(at, found) } === Seq(false, true, true, false, true, false))
  }

  test(
    "Flink D3: with a timeout of 122 idle at 122, not at 121, active with a record, and idle 122 after it, at 245"
  ) {
    def idle(looks: (Long, Option[Boolean])*): Boolean = {
      val silence = new Silence(122)
      looks.foreach { case (at, found) => silence.look(at, at, found, at) }
      silence.idleSinceMs.nonEmpty
    }
    assert(!idle(0L -> nothing, 121L -> nothing) && idle(0L -> nothing, 122L -> nothing))
    assert(!idle(0L -> nothing, 122L -> nothing, 123L -> record))
    assert(!idle(0L -> nothing, 122L -> nothing, 123L -> record, 244L -> nothing))
    assert(idle(0L -> nothing, 122L -> nothing, 123L -> record, 245L -> nothing))
  }

  test(
    "Flink D3: looked at each 5, with a record at 4, it is idle at 15: Flink, which first has to see it silent, says 25"
  ) {
    val looks = Seq(0L -> nothing, 5L -> record, 10L -> nothing, 15L -> nothing, 20L -> nothing)
    assert((1 to looks.size).map(n => of(looks.take(n): _*).idleSinceMs) ===
      Seq(None, None, None, Some(1005), Some(1005)))
  }

  test("Flink D3: a timeout that is not positive is refused") {
    for (timeout <- Seq(0L, -1L)) {
      val refused = intercept[IllegalArgumentException](new Silence(timeout))
      assert(refused.getMessage.contains(s"a timeout is positive, not $timeout us"))
    }
  }

  test("of a busy time a tenth of the timeout counts, so one that is long makes nobody idle") {
    assert(busy((1, record, 1000), (1001, nothing, 0)).idleSinceMs === None)
    assert(busy((1, record, 1000), (1001, nothing, 0), (1009, nothing, 0)).idleSinceMs === None)
    assert(busy((1, record, 1000), (1001, nothing, 0), (1010, nothing, 0)).idleSinceMs === Some(1001))
  }

  test("whoever is always busy finds silence after ten looks") {
    def always(looks: Int) =
      busy((1L, record, 100L) +: (1 to looks).map(i => (1L + i * 100, nothing, 100L)): _*)
    assert(always(9).idleSinceMs === None)
    assert(always(10).idleSinceMs === Some(1001))
  }

  test("an idle source has no say, unless all are idle: then the greatest counts") {
    def min(times: Long*)(idle: Boolean*) = WatermarkPolicy.chosen(times, idle, isMax = false)
    assert(min(7, 9)(false, false) === Some(7))
    assert(min(7, 9)(true, false) === Some(9))
    assert(min(7, 9)(false, true) === Some(7))
    assert(min(7, 9)(true, true) === Some(9))
    assert(min(0, 9)(false, true) === Some(0)) // one that has seen nothing yet is waited for
    assert(min()() === None)
    assert(WatermarkPolicy.chosen(Seq(7, 9), Seq(true, true), isMax = true) === Some(9))
    assert(WatermarkPolicy.chosen(Seq(7, 9), Seq(false, true), isMax = true) === Some(9))
  }
}
