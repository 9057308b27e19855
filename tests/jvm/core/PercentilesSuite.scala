package io.sparklatency

import io.sparklatency.recording.BucketCounts
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.recording.LatencyTally
import io.sparklatency.time.ManualClock
import org.HdrHistogram.Histogram
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Percentiles and counts are those of HdrHistogram with two digits, for the same records. */
class PercentilesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val latency: Gen[Long] = Gen.oneOf(
    Gen.choose(0L, 300L),
    Gen.choose(0L, 100000L),
    Gen.choose(0, 63).flatMap(bits => Gen.choose(0L, Long.MaxValue >>> bits)),
    Gen.choose(0, 62).flatMap(bits => Gen.choose(-1L, 1L).map((1L << bits) + _)),
    Gen.const(Long.MaxValue)
  )
  private val percents: Gen[Seq[Double]] =
    Gen.listOf(Gen.oneOf(Gen.choose(0.0, 100.0), Gen.oneOf(50.0, 99.0, 99.9, 99.999, 100.0, -3.0, 250.0)))

  /** So many records of each latency. */
  private def summary(latencies: Seq[(Long, Int)]): LatencySummary = {
    val clock = new ManualClock(0)
    val recorder = new LatencyRecorder(clock)
    for ((ms, count) <- latencies; _ <- 1 to count) {
      clock.set(ms)
      recorder.record(0)
    }
    recorder.summary()
  }

  private def oracle(latencies: Seq[(Long, Long)]): Histogram = {
    val histogram = new Histogram(1, Long.MaxValue, 2)
    for ((ms, count) <- latencies) histogram.recordValueWithCount(ms, count)
    histogram
  }

  private val repeated = Gen.nonEmptyListOf(Gen.zip(latency, Gen.choose(1, 5)))

  test(
    "percentiles are HdrHistogram's, within the minimum and the maximum, in whatever order they are asked for"
  ) {
    forAll(repeated, percents) { (latencies, percents) =>
      val hdr = oracle(latencies.map { case (ms, count) => (ms, count.toLong) })
      val (min, max) = (latencies.map(_._1).min, latencies.map(_._1).max)
      val expected = percents.map(p => Some(hdr.getValueAtPercentile(p).max(min).min(max)))
      assert(summary(latencies).percentiles(percents) === expected)
    }
  }

  test("every percentile in steps of a thousandth is HdrHistogram's, of a million records and more") {
    val latencies = (0 to 60).map(bits => (5L << bits) + bits).filter(_ > 0).zipWithIndex.map {
      case (ms, i) =>
        (ms, 1 + 997 * i)
    }
    val (found, hdr) = (summary(latencies), oracle(latencies.map { case (ms, count) => (ms, count.toLong) }))
    val steps = (1 to 100000).map(_ / 1000.0)
    val expected = steps.map(p => Some(hdr.getValueAtPercentile(p).min(found.max.get)))
    assert(found.count > 1000000 && found.percentiles(steps) === expected)
  }

  test("percentiles are HdrHistogram's where more records are counted than a Double can tell apart") {
    val counts = Gen.nonEmptyListOf(Gen.zip(latency, Gen.choose(1L, 1L << 55)))
    forAll(counts, Gen.choose(1, 7), percents) { (all, some, percents) =>
      val latencies = all.take(some)
      val buckets = new BucketCounts
      for ((ms, count) <- latencies) buckets.add(LatencyTally.bucketOf(ms), count)
      val counted = LatencySummary(latencies.map(_._2).sum, 0, Long.MaxValue, BigInt(0), 0, 0, buckets.encode)
      val hdr = oracle(latencies)
      assert(counted.percentiles(percents) === percents.map(p => Some(hdr.getValueAtPercentile(p))))
    }
  }

  test("the percentile 0 is that of the first record, as is any that is small enough") {
    val summary = Aged.records(1000L +: Seq.fill(9)(5000L): _*)
    assert(summary.percentiles(Seq(-1, 0, 1, 10)) === Seq.fill(4)(Some(1003)))
  }

  test("counts up to a latency are HdrHistogram's") {
    forAll(repeated, Gen.listOf(latency)) { (latencies, limits) =>
      val hdr = oracle(latencies.map { case (ms, count) => (ms, count.toLong) })
      val asked = limits ++ latencies.map(_._1)
      assert(summary(latencies).countsUpTo(asked) === asked.map(hdr.getCountBetweenValues(0, _)))
    }
  }

  test("records ahead of the clock count up to every latency that is not negative") {
    val recorder = new LatencyRecorder(new ManualClock(1000))
    for (ms <- Seq(-4L, 0L, 300L)) recorder.record((1000 - ms) * 1000)
    assert(recorder.summary().countsUpTo(Seq(-1, 0, 299, 302, 256)) === Seq(0, 2, 2, 3, 2))
  }

  test("below 256 every percentile is exact, and above never too low and at most 1 % too high") {
    forAll(repeated, Gen.choose(1, 100)) { (latencies, percent) =>
      val sorted = latencies.flatMap { case (ms, count) => Seq.fill(count)(ms) }.sorted
      val exact = sorted((sorted.size * percent + 99) / 100 - 1)
      val found = summary(latencies).percentile(percent.toDouble).get
      assert(if (exact < 256) found === exact else found >= exact && found - exact <= exact / 100)
    }
  }

  test("each bucket ends where the next begins, up to the greatest Long") {
    for (bucket <- 1 until LatencyTally.Buckets)
      assert(LatencyTally.highestOf(bucket - 1) + 1 === LatencyTally.lowestOf(bucket))
    assert(LatencyTally.highestOf(LatencyTally.Buckets - 1) === Long.MaxValue)
  }
}
