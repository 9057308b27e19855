package io.sparklatency

import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.Waits
import org.scalactic.Tolerance._
import org.scalatest.funsuite.AnyFunSuite

/** What made the records of a batch old that commits at 10,000, has read since 6,000, and was triggered at 5,000. */
class AgePartsSuite extends AnyFunSuite {
  import Answered._

  private def batch(nodes: NodeLatencies*): Batch = Batch(
    "orders",
    None,
    None,
    7,
    5000,
    10000,
    2,
    Map.empty,
    None,
    Nil,
    0,
    nodes,
    times = Some(BatchTimes(7, 6000L * 1000, Some(0), Nil)),
    admission = Some(Admission(1000, 1000, 3000, 5000, 5500))
  )

  /** Of two records, 8 and 9 s old at the commit, 7 and 8 s when they left `sink`. */
  private val stateless = batch(
    Aged.node("source")(4500, 5500),
    Aged.node("sink", "source")(7000, 8000).committed(8000, 9000)
  )

  test("the parts are those of the records that came out, and add up to their age at the commit") {
    val parts = AgeParts.of(stateless, None).get
    assert(parts === AgeParts("sink", Waits(0, 0, 1500, 2000, 1000), work = 3000, state = 0, commit = 1000))
    assert(parts.whole === 8500.0)
  }

  test("where others come out than came in, those wait, work and commit; the rest these were in state") {
    val cameIn = Waits(0, 0, 500, 100, 400)
    val parts = AgeParts.of(stateless, Some(cameIn)).get
    assert(parts === AgeParts("sink", cameIn, work = 3000, state = 3500, commit = 1000))
    assert(parts.whole === 8500.0)
  }

  test("a record that is ahead of the clock arrives young, and takes nothing from the work") {
    val ahead = batch(Aged.node("sink")(7000, -101000).committed(8000, -100000))
    val parts = AgeParts.of(ahead, None).get
    assert((parts.work, parts.commit, parts.whole) === ((3000.0, 1000.0, -46000.0)))
    assert((parts.waits.trigger, parts.waits.start) === ((1000.0, 500.0)))
  }

  test("on a record whose timestamp was made after the first read nobody worked before") {
    val stamped =
      batch(Aged.node("sink")(500, 1500).committed(1500, 2500)) // stamped 7,500 and 8,500, read since 6,000
    val parts = AgeParts.of(stamped, None).get
    assert(parts === AgeParts("sink", Waits(0, 0, 0, 0, 0), work = 1000, state = 0, commit = 1000))
    assert(parts.whole === 2000.0)
  }

  test("of records of which some were stamped late, the others wait as long as they did") {
    // Half are 10 s old when the batch begins to read at 6,000, half were stamped at 7,000; all pass at 9,000.
    val mixed = batch(Aged.node("sink")(13000, 2000).committed(14000, 3000))
    val parts = AgeParts.of(mixed, None).get
    assert((parts.commit, parts.whole) === ((1000.0, 8500.0)))
    assert(parts.work === 2500.0 +- 25 && parts.waits.arrivedOld === 2500.0 +- 25) // by a histogram
  }

  test("what is less than a millisecond before the first read is no work, and no less than none") {
    def at(micros: Long) = {
      val read = batch(Aged.node("sink")(3000).committed(7000)).copy(times =
        Some(BatchTimes(7, micros, Some(0), Nil))
      )
      AgeParts.of(read, None).map(parts => (parts.work, parts.commit, parts.whole))
    }
    assert(at(6000000) === Some((0.0, 4000.0, 7000.0)))
    assert(at(6000700) === Some((0.0, 3999.3, 7000.0)))
    assert(at(6002000) === Some((-2.0, 4000.0, 7000.0)), "clocks differ")
  }

  test("results that are dated later than the records have been in state for less than no time") {
    assert(AgeParts.of(stateless, Some(Waits(0, 0, 9000, 0, 0))).get.state === -4500.0)
  }

  test("of several ends the one counts where records are oldest") {
    val two = stateless.copy(nodes = stateless.nodes :+ Aged.node("other", "source")(9000).committed(9500))
    assert(AgeParts.of(two, None).map(_.end) === Some("other"))
    assert(AgeParts.of(two, None).map(_.whole) === Some(9500.0))
  }

  test("without records at an end, a commit, a trigger or a first read nothing is known") {
    for (
      unknown <- Seq(
        batch(Aged.node("source")(100), Aged.node("sink", "source")().committed()),
        batch(Aged.node("source")(100), Aged.node("sink", "source")(200)),
        stateless.copy(admission = None),
        stateless.copy(times = None)
      )
    ) assert(AgeParts.of(unknown, None) === None)
  }

  test("nothing is known where the clock was set while the batch ran") {
    def at(startMs: Long) = stateless.copy(admission = stateless.admission.map(_.copy(startMs = startMs)))
    assert(AgeParts.of(at(6900), None).nonEmpty, "two clocks may differ a little")
    assert(AgeParts.of(at(7000), None) === None)
    assert(AgeParts.of(stateless.copy(committedMs = 5000), None) === None)
  }

  test("nothing is known where the clock was set back between the batch before and this one") {
    def ended(ms: Long) = stateless.copy(admission = stateless.admission.map(_.copy(endedMs = ms)))
    assert(AgeParts.of(ended(5999), None).nonEmpty)
    assert(AgeParts.of(ended(6000), None) === None)
  }
}
