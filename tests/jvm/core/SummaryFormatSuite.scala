package io.sparklatency

import java.nio.ByteBuffer

import io.sparklatency.recording.BucketCounts
import io.sparklatency.recording.BucketLayout
import io.sparklatency.recording.LatencySummary
import io.sparklatency.recording.NewerFormatException
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class SummaryFormatSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val latencies = Gen.nonEmptyListOf(Gen.choose(0, 45).flatMap(bits => Gen.choose(0L, 1L << bits)))

  /** What a summary of 5 and 7 ms is in format 0, byte by byte. */
  private val format0 = bytes(
    0, 0, 0, 0, 0, 0, 0, 2, // count
    0, 0, 0, 0, 0, 0, 0, 5, // lowest
    0, 0, 0, 0, 0, 0, 0, 7, // highest
    0, 0, 0, 0, 0, 0, 0, 0, // without timestamp
    0, 0, 0, 0, 0, 0, 0, 0, // ahead of the clock
    0, 0, 0, 1, 12, // sum
    0x35, 0x40 // as bits 00110 1 010 1: 6 and 1, 2 and 1
  )

  private def bytes(numbers: Int*): Array[Byte] = numbers.map(_.toByte).toArray

  /** As a sparklatency would write it that lays its buckets out with so many bits. */
  private def inLayout(bits: Int, latencies: Seq[Long]): LatencySummary = {
    val buckets = new BucketCounts
    latencies.foreach(ms => buckets.add(BucketLayout.bucketOf(ms, bits), 1))
    val total = latencies.map(BigInt(_)).sum.toByteArray
    val (fixed, encoded) = (ByteBuffer.allocate(44), buckets.encode)
    fixed.putLong(latencies.size.toLong).putLong(latencies.min).putLong(latencies.max).putLong(0).putLong(0)
    LatencySummary.fromBytes(bytes(1, bits) ++ fixed.putInt(total.length).array ++ total ++ encoded)
  }

  test("the bytes name their format and the layout of the buckets, and stay as they are") {
    assert(Aged.records(5, 7).toBytes.toSeq === (bytes(1, 7) ++ format0).toSeq)
  }

  test("format 0, which named neither, is read") {
    assert(Figures(LatencySummary.fromBytes(format0)) === Figures(Aged.records(5, 7)))
    forAll(latencies) { all =>
      val summary = inLayout(7, all)
      assert(Figures(LatencySummary.fromBytes(summary.toBytes.drop(2))) === Figures(summary))
    }
  }

  test("the greatest count of format 0 is not taken for the name of a format") {
    val most = LatencySummary.fromBytes(bytes(0, 255, 255, 255, 255, 255, 255, 255) ++ format0.drop(8))
    assert(most.count === (1L << 56) - 1)
  }

  test("in another layout all is exact but percentiles, which are as exact as its buckets are narrow") {
    forAll(latencies, Gen.choose(1, 16), Gen.choose(1, 100)) { (all, bits, percent) =>
      val (read, sorted) = (inLayout(bits, all), all.sorted)
      assert((read.count, read.min, read.max, read.sum) ===
        ((all.size, Some(sorted.head), Some(sorted.last), all.map(BigInt(_)).sum)))
      val exact = sorted((all.size * percent + 99) / 100 - 1)
      val found = read.percentile(percent.toDouble).get
      assert(found >= exact && found - exact <= (exact >> math.min(bits, 7)))
    }
  }

  test("a layout of more bits gives the same figures as ours") {
    forAll(latencies, Gen.choose(8, 16)) { (all, bits) =>
      assert(Figures(inLayout(bits, all)) === Figures(inLayout(7, all)))
    }
  }

  test("a newer format is refused in words") {
    val refused = intercept[NewerFormatException](LatencySummary.fromBytes(bytes(2, 7) ++ format0))
    assert((refused.found, refused.known) === ((2, 1)))
    assert(
      refused.getMessage === "latencies of format 2 were written by a newer sparklatency; this one reads " +
        "formats up to 1: upgrade sparklatency on the History Server, or wherever else they are read"
    )
    assert(intercept[NewerFormatException](LatencySummary.fromBytes(bytes(255))).found === 255)
  }

  test("a layout that cannot be is refused in words") {
    for (bits <- Seq(0, 17, 200)) {
      val refused = intercept[IllegalArgumentException](LatencySummary.fromBytes(bytes(1, bits) ++ format0))
      assert(refused.getMessage.contains("not the latencies of format 1"))
    }
  }
}
