package io.sparklatency

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** The cases of Kafka's `PercentilesTest`, with their numbers. */
class KafkaStreamsCasesSuite extends AnyFunSuite {
  test("a hundred values in sequence: p25 is 25, p50 is 50, p75 is 75") {
    assert(Aged.records(1L to 100L: _*).percentiles(Seq(25, 50, 75)) === Seq(25, 50, 75).map(ms =>
      Some(ms.toLong)
    ))
  }

  test("there is no range to which values are pinned: the lowest and the highest are what they are") {
    val summary = Aged.records(-100, 0, 50, 100, 3650L * 24 * 3600 * 1000)
    assert((summary.min, summary.max) === ((Some(-100), Some(315360000000L))))
    assert((summary.percentile(100), summary.percentile(60)) === ((Some(315360000000L), Some(50))))
  }

  test("p90 and p99 of random values up to a thousand days are within 1 %, where Kafka allows 20 %") {
    val random = new Random(11)
    for (count <- Seq(5000, 10000, 15000)) {
      val values = Seq.fill(count)(random.between(0L, 1000L * 24 * 3600 * 1000))
      val summary = Aged.records(values: _*)
      for (percent <- Seq(90, 99)) {
        val exact = values.sorted.apply(count * percent / 100 - 1)
        val reported = summary.percentile(percent.toDouble).get
        assert(reported >= exact && reported <= exact * 1.01, s"p$percent of $count values")
      }
    }
  }
}
