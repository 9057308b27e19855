package io.sparklatency

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BucketCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val most = (1L << 56) - 1
  private val count = Gen.oneOf(Gen.choose(1L, 40L), Gen.choose(1L, most), Gen.const(most))
  private val last = LatencyTally.bucketOf(Long.MaxValue)

  private def encoded(counts: Map[Int, Long]): Array[Byte] = {
    val all = new Array[Long](last + 1)
    for ((bucket, count) <- counts) all(bucket) = count
    BucketCounts.encode(all)
  }

  private def bytesOf(counts: (Int, Long)*): Seq[Int] = encoded(counts.toMap).map(_ & 255).toSeq

  test("counts come back as they were, whatever their number, their size and the gaps between them") {
    forAll(Gen.mapOf(Gen.zip(Gen.choose(0, last), count))) { counts =>
      val added = BucketCounts.add(encoded(counts), Array.emptyLongArray)
      assert(added.indices.filter(added(_) > 0).map(bucket => bucket -> added(bucket)).toMap === counts)
    }
  }

  test("counts are added to those that are there, and to more than there was room for") {
    val (a, b) = (BucketCounts.encode(Array(1, 0, 3)), BucketCounts.encode(Array(0, 0, 4, 0, 5)))
    assert(BucketCounts.add(b, BucketCounts.add(a, Array(7L))).take(5).toSeq === Seq(8, 0, 7, 0, 5))
  }

  test("counts are in Elias' gamma code, one more than the gap before each") {
    assert(bytesOf() === Seq())
    assert(bytesOf(0 -> 1) === Seq(0b11000000))
    assert(bytesOf(0 -> 1, 1 -> 1, 3 -> 2) === Seq(0b11_11_010_0, 0b10_000000))
    assert(bytesOf(4 -> 1000) === Seq(0b00101_000, 0b000000_11, 0b11101000))
  }

  test("bytes that are no counts are refused, before they take memory") {
    val error = intercept[IllegalArgumentException](BucketCounts.add(
      Array[Byte](0, 0, 0, 1, 0, 0, 0, 1),
      Array.emptyLongArray
    ))
    assert(error.getMessage.contains("not the counts of a histogram"))
  }
}
