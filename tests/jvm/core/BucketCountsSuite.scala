package io.sparklatency

import scala.collection.mutable

import io.sparklatency.recording.BucketCounts
import io.sparklatency.recording.LatencyTally
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BucketCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val most = (1L << 56) - 1
  private val count = Gen.oneOf(Gen.choose(1L, 40L), Gen.choose(1L, most), Gen.const(most))
  private val last = LatencyTally.bucketOf(Long.MaxValue)

  private def counted(counts: (Int, Long)*): BucketCounts = {
    val all = new BucketCounts
    for ((bucket, count) <- counts) all.add(bucket, count)
    all
  }

  private def held(counts: BucketCounts): Seq[(Int, Long)] = {
    val found = mutable.ArrayBuffer.empty[(Int, Long)]
    counts.foreach((bucket, count) => found += bucket -> count)
    found.toSeq
  }

  private def bytesOf(counts: (Int, Long)*): Seq[Int] = counted(counts: _*).encode.map(_ & 255).toSeq

  test("counts come back as they were, whatever their number, their size and the gaps between them") {
    forAll(Gen.mapOf(Gen.zip(Gen.choose(0, last), count))) { counts =>
      val (there, back) = (counted(counts.toSeq: _*), new BucketCounts)
      back.add(there.encode)
      assert(held(there) === counts.toSeq.sorted && held(back) === counts.toSeq.sorted)
    }
  }

  test("counts are added to those that are there, and to more than there was room for") {
    val counts = counted(1000 -> 7L)
    counts.add(counted(1000 -> 1, 1002 -> 3).encode)
    counts.add(counted(0 -> 4, last -> 5).encode)
    assert(held(counts) === Seq(0 -> 4, 1000 -> 8, 1002 -> 3, last -> 5))
  }

  test("counts are in Elias' gamma code, one more than the gap before each") {
    assert(bytesOf() === Seq())
    assert(bytesOf(0 -> 1) === Seq(0b11000000))
    assert(bytesOf(0 -> 1, 1 -> 1, 3 -> 2) === Seq(0b11_11_010_0, 0b10_000000))
    assert(bytesOf(4 -> 1000) === Seq(0b00101_000, 0b000000_11, 0b11101000))
  }

  test("bytes that are no counts are refused, before they take memory") {
    val error =
      intercept[IllegalArgumentException](new BucketCounts().add(Array[Byte](0, 0, 0, 1, 0, 0, 0, 1)))
    assert(error.getMessage.contains("not the counts of a histogram"))
  }
}
