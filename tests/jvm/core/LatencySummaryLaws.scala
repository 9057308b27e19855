package io.sparklatency

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Everything that can be read of a summary, for comparing two. */
final case class Figures(
    counts: Seq[Long],
    sum: BigInt,
    extremes: Seq[Option[Long]],
    percentiles: Seq[Option[Long]]
)

object Figures {
  val percents: Seq[Double] = Seq(0, 1, 10, 50, 90, 99, 99.9, 100)

  def apply(s: LatencySummary): Figures =
    Figures(
      Seq(s.records, s.count, s.withoutTimestamp, s.aheadOfClock),
      s.sum,
      Seq(s.min, s.max, s.maxLead),
      s.percentiles(percents)
    )
}

class LatencySummaryLaws extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val Now = 1790000000000L
  private val latency: Gen[Long] = Gen.oneOf(
    Gen.choose(0L, 300L),
    Gen.choose(0L, 100000L),
    Gen.choose(0.0, 40.0).map(e => math.pow(2, e).toLong),
    Gen.choose(-5000L, 0L),
    Gen.const(Now + 1) // before the epoch: without a timestamp
  )
  private val latencies = Gen.listOf(latency)

  private def summary(latencies: Seq[Long]): LatencySummary = {
    val recorder = new LatencyRecorder(new ManualClock(Now))
    latencies.foreach(ms => recorder.record((Now - ms) * 1000))
    recorder.summary()
  }

  test("merged is the same as recorded together") {
    forAll(Gen.listOf(latencies)) { parts =>
      assert(Figures(LatencySummary.merge(parts.map(summary))) === Figures(summary(parts.flatten)))
    }
  }

  test("the order of merging does not matter") {
    forAll(latencies, latencies, latencies) { (a, b, c) =>
      val (x, y, z) = (summary(a), summary(b), summary(c))
      assert(Figures((x + y) + z) === Figures(x + (y + z)))
      assert(Figures(x + y) === Figures(y + x))
      assert(Figures(x + LatencySummary.empty) === Figures(x))
    }
  }

  test("a sum that a Long does not hold is exact, in whatever order parts of it come") {
    val half = 1L << 61
    val longs =
      Seq(half, half + 1, 2 * half, Long.MaxValue, -half, -half - 1, -2 * half - 1, Long.MinValue, 5L)
    val sums = longs.map(BigInt(_)) :+ BigInt(2).pow(70)
    def part(sum: BigInt) = LatencySummary(1, 0, 0, sum, 0, 0, Array.emptyByteArray)
    for (one <- sums; two <- sums; three <- sums; all = Seq(one, two, three))
      assert(LatencySummary.merge(all.map(part)).sum === all.sum, all)
  }

  test("count, minimum, maximum, sum and average are exact") {
    forAll(latencies) { all =>
      val measured = all.filter(_ <= Now)
      val s = summary(all)
      assert(s.count === measured.size && s.withoutTimestamp === all.size - measured.size)
      assert(s.sum === measured.map(BigInt(_)).sum)
      assert(s.min === measured.minOption && s.max === measured.maxOption)
      assert(s.avg === measured.headOption.map(_ => (BigDecimal(s.sum) / s.count).toDouble))
    }
    val (old, records) = (15552000001L, 1000003)
    assert(summary(Seq.fill(records)(old)).avg === Some(old.toDouble))
  }

  test("a percentile is the value at its rank, at most 1 % too high") {
    forAll(latencies, Gen.oneOf(Figures.percents)) { (all, percent) =>
      val sorted = all.filter(_ <= Now).map(_.max(0)).sorted
      whenever(sorted.nonEmpty) {
        val rank = math.max(1, math.ceil(percent / 100 * sorted.size).toInt)
        val exact = sorted(rank - 1)
        val reported = summary(all).percentile(percent).get
        assert(reported.max(0) >= exact && reported.max(0) <= exact * 1.01)
      }
    }
  }

  test("a summary is the same after its way over the wire") {
    forAll(latencies) { all =>
      val sent = summary(all)
      assert(Figures(LatencySummary.fromBytes(sent.toBytes)) === Figures(sent))
    }
  }

  test("parts that are published on the way make up the whole") {
    forAll(latencies) { all =>
      var parts = Seq.empty[LatencySummary]
      val recorder = new LatencyRecorder(new ManualClock(Now), (part, _) => parts :+= part, publishNanos = -1)
      all.foreach(ms => recorder.record((Now - ms) * 1000))
      val whole = Figures(summary(all))
      assert(Figures(recorder.summary()) === whole)
      assert(Figures(LatencySummary.merge(parts :+ recorder.unpublished)) === whole)
      for (_ <- 1 to 2) recorder.publishIfSilent()
      assert(Figures(LatencySummary.merge(parts)) === whole)
      assert(recorder.unpublished.isEmpty && parts.forall(!_.isEmpty))
    }
  }

  test("ages at one time tell the ages at another") {
    forAll(latencies, Gen.choose(-5000L, 100000L), Gen.oneOf(Figures.percents)) { (all, reference, percent) =>
      val clock = new ManualClock(Now)
      val recorder = new LatencyRecorder(clock, reference = Some(Now + reference))
      // The clock stands still for some of the records, and goes on for others.
      val reads = all.zipWithIndex.map { case (ms, number) => (ms, Now + number / 3 * 7) }
      for ((ms, read) <- reads) { clock.set(read); recorder.record((read - ms) * 1000) }
      val end = math.max(clock.millis(), Now + reference) + 7001
      val ages = Ages.at(end, recorder.agesOfAll)
      val measured = reads.filter { case (ms, read) => ms <= read }
      val exact = measured.map { case (ms, read) => ms + end - read }.sorted
      assert(ages.count === exact.size && ages.withoutTimestamp === all.size - exact.size)
      assert(ages.sum === exact.map(BigInt(_)).sum)
      assert(ages.min === exact.headOption && ages.max === exact.lastOption)
      // Who was ahead of the clock is taken to have been at its time.
      val known = measured.map { case (ms, read) => ms.max(0) + end - read }.sorted
      whenever(known.nonEmpty) {
        val wanted = known(math.max(1, math.ceil(percent / 100 * known.size).toInt) - 1).min(exact.last)
        val reported = ages.percentile(percent).get
        val isNewer = end - known.head > Now + reference
        val scale = if (isNewer) wanted.max(end - Now - reference) else wanted
        assert(math.abs(reported - wanted) <= scale / 100.0, s"$reported instead of $wanted")
      }
    }
  }

  test("no percentile of ages at another time is less than the age of the newest record") {
    val recorder = new LatencyRecorder(new ManualClock(Now), reference = Some(Now))
    // Lies in the bucket from 1000 to 1003, whose beginning lies in that from 1020 to 1023 then.
    recorder.record((Now - 1003) * 1000)
    val ages = Ages.at(Now + 21, recorder.agesOfAll)
    assert((ages.min, ages.percentiles(Seq(0, 50, 100))) === ((Some(1024), Seq.fill(3)(Some(1024)))))
  }

  test("publishing leaves the ages alone") {
    val recorder = new LatencyRecorder(new ManualClock(Now), publishNanos = -1, reference = Some(Now + 5))
    Seq(1L, 2L, 3L).foreach(ms => recorder.record((Now - ms) * 1000))
    recorder.record(-1)
    val ages = recorder.agesOfAll.get.summary
    assert((ages.count, ages.min, ages.max, ages.withoutTimestamp) === ((3, Some(6), Some(8), 1)))
    assert(new LatencyRecorder(new ManualClock(Now)).agesOfAll.isEmpty)
  }

  test("a record that is made while its batch runs is no older than it is") {
    val clock = new ManualClock(Now)
    val recorder = new LatencyRecorder(clock, reference = Some(Now))
    for (second <- 1 to 10) {
      clock.set(Now + second * 1000)
      recorder.record((clock.millis() - 100) * 1000)
    }
    val ages = Ages.at(Now + 10500, recorder.agesOfAll)
    assert((ages.min, ages.max, ages.avg) === ((Some(600), Some(9600), Some(5100.0))))
    assert(math.abs(ages.percentile(50).get - 4600) <= 105)
  }

  test("one record that is newer than its batch costs the percentiles of the others nothing") {
    val clock = new ManualClock(Now + 14470)
    val recorder = new LatencyRecorder(clock, reference = Some(Now))
    val old = 1097390L
    (1 to 9).foreach(_ => recorder.record((clock.millis() - old) * 1000))
    clock.set(Now + 16315)
    recorder.record((clock.millis() - 1) * 1000)
    val ages = Ages.at(clock.millis() + 16047, recorder.agesOfAll)
    val exact = old + 16315 - 14470 + 16047
    assert((ages.max, ages.min) === ((Some(exact), Some(16048))))
    assert(math.abs(ages.percentile(50).get - exact) <= exact / 100)
  }
}
