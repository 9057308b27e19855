package io.sparklatency

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Waits
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What records waited for until their batch began to read. The batch commits at 10,000 and has read since 9,000. */
class WaitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val admission =
    Admission(sinceMs = 1000, fixedMs = 3000, endedMs = 6000, startMs = 8000, tookMs = 2500)

  private def of(admission: Admission, times: Long*): Option[Waits] =
    Waits.of(Aged.records(times.map(10000 - _): _*), 10000, admission, 9000, isAhead = false)

  test("a record waits in turn for all that came after its timestamp") {
    assert(of(admission, 500) === Some(Waits(500, 2000, 3000, 2000, 1000)))
    assert(of(admission, 2500) === Some(Waits(0, 500, 3000, 2000, 1000)))
    assert(of(admission, 4000) === Some(Waits(0, 0, 2000, 2000, 1000)))
    assert(of(admission, 7500) === Some(Waits(0, 0, 0, 500, 1000)))
    assert(of(admission, 8200) === Some(Waits(0, 0, 0, 0, 800)))
  }

  test("of several records each wait is the mean") {
    assert(of(admission, 8800, 8600, 8200, 8000) === Some(Waits(0, 0, 0, 0, 600)))
    assert(of(admission, 8000, 8800).map(_.whole) === Some(600.0))
  }

  test("without a limit nothing is backlog, and without a batch before all that is older arrived old") {
    assert(of(admission.copy(sinceMs = 3000), 500) === Some(Waits(2500, 0, 3000, 2000, 1000)))
    assert(of(Admission.first(8000, 2500), 500) === Some(Waits(7500, 0, 0, 0, 1000)))
  }

  test("what is told out of order took no time") {
    assert(of(admission.copy(fixedMs = 7000), 500) === Some(Waits(500, 6000, 0, 1000, 1000)))
  }

  test(
    "one that is ahead of the clock waits for nothing and arrives young, so that the sum is the mean age in any case"
  ) {
    val ages = Aged.records(2500, -9500)
    val waits = Waits.of(ages, 10000, admission, 9000, isAhead = true)
    assert(waits === Some(Waits(-5250, 0, 0, 250, 500)))
    assert(waits.map(_.whole) === ages.avg.map(_ - 1000))
  }

  test("a record that came after the first read did not wait, and without records nothing is known") {
    assert(of(admission, 9500) === Some(Waits(0, 0, 0, 0, 0)))
    assert(of(admission) === None)
  }

  test(
    "records that came at one time waited for nothing that ended before, and no wait is negative, however long the batch took"
  ) {
    for (took <- 1000L to 900000L by 1000L) {
      val (trigger, committed) = (1000000L, 1000000L + took)
      val idle = Admission(trigger - 10, trigger - 10, trigger - 10, trigger, took)
      val ages = Aged.records((-30L to 30L).map(around => committed - trigger - around): _*)
      val waits = Waits.of(ages, committed, idle, trigger + 200.0, isAhead = false).get
      assert(waits.all.forall(_ >= 0) && waits.all.forall(_ <= 230), s"$took: $waits")
      assert(math.abs(waits.whole - 200) < 1e-3)
    }
  }

  test(
    "waits add up to the mean age at the first read, exactly, and each is within 1 % of the oldest age"
  ) {
    val times =
      Gen.nonEmptyListOf(Gen.frequency(1 -> Gen.choose(-900000L, 0L), 5 -> Gen.choose(0L, 9000L)))
    forAll(times, Gen.choose(9000L, 9990L), minSuccessful(500)) { (times, firstRead) =>
      val waits = Waits.of(
        Aged.records(times.map(10000 - _): _*),
        10000,
        admission,
        firstRead.toDouble,
        isAhead = false
      ).get
      val ages = times.map(firstRead.toDouble - _)
      assert(math.abs(waits.whole - ages.sum / ages.size) < 1e-3)
      def exact(from: Long, to: Long) =
        times.map(time => (to - math.max(time, from)).max(0).toDouble).sum / times.size
      val expected = Seq(
        times.map(time => (1000 - time).max(0).toDouble).sum / times.size,
        exact(1000, 3000),
        exact(3000, 6000),
        exact(6000, 8000),
        exact(8000, firstRead)
      )
      val slack = 0.01 * times.map(time => (10000 - time).toDouble).max + 1
      waits.all.zip(expected).foreach { case (told, true_) => assert(math.abs(told - true_) <= slack) }
    }
  }
}
