package io.sparklatency

import java.io.ByteArrayOutputStream
import java.util.Arrays

/**
 * The counts of a [[LatencyRecorder]]'s buckets as bytes, of which a driver keeps one array for each partition of a batch. Those
 * of many parts are added up without a histogram in between.
 *
 * For each bucket that holds anything there is one more than the number of empty ones before it, and its count, both below 2^56^,
 * in Elias' gamma code: as many zeros as the number has bits after its first, and then its bits. Few records a bucket and short
 * gaps, as partitions have them, take less than a byte a bucket; HdrHistogram's own encoding takes forty bytes to begin with, and
 * one or two a bucket. What remains of the last byte is zeros.
 */
private[sparklatency] object BucketCounts {

  def encode(counts: Array[Long]): Array[Byte] = {
    val code = new Writer
    var next = 0
    foreach(counts) { (bucket, count) =>
      code.write(bucket - next + 1L)
      code.write(count)
      next = bucket + 1
    }
    code.toBytes
  }

  /** Hands over what is not empty. Every task comes here, as a rule with thousands of buckets and few that hold anything. */
  def foreach(counts: Array[Long])(use: (Int, Long) => Unit): Unit = {
    var bucket = 0
    while (bucket < counts.length) {
      if (counts(bucket) > 0) use(bucket, counts(bucket))
      bucket += 1
    }
  }

  /** Adds to `counts`, or to a longer copy of it where it is too short. */
  def add(encoded: Array[Byte], counts: Array[Long]): Array[Long] = {
    var sums = counts
    val cursor = new Cursor(encoded)
    while (cursor.next()) sums = add(cursor.bucket, cursor.count, sums)
    sums
  }

  /** The same for one bucket. */
  def add(bucket: Int, count: Long, counts: Array[Long]): Array[Long] = {
    val sums =
      if (bucket < counts.length) counts else Arrays.copyOf(counts, math.max(bucket + 1, counts.length * 2))
    sums(bucket) += count
    sums
  }

  /** Goes from one bucket that is not empty to the next. */
  final class Cursor(encoded: Array[Byte]) {
    private[this] var at = 0
    private[this] var ahead = 0L // the bits that come next, from the highest on
    private[this] var bits = 0
    var bucket: Int = -1
    var count: Long = 0

    def next(): Boolean = {
      val gap = read()
      if (gap > 0) {
        if (gap >= LatencyTally.Buckets - bucket)
          throw new IllegalArgumentException(s"not the counts of a histogram: bucket ${bucket + gap}")
        bucket += gap.toInt
        count = read()
      }
      gap > 0
    }

    /** 0 at the end. With its zeros before it a number is the same number, so as a rule it is taken at once. */
    private def read(): Long = {
      if (widthOfNext > bits) fill()
      val width = widthOfNext
      val zeros = width / 2
      if (width <= bits) take(width)
      else if (zeros >= bits) 0
      else {
        take(zeros)
        fill()
        take(zeros + 1)
      }
    }

    private def widthOfNext: Int = 2 * java.lang.Long.numberOfLeadingZeros(ahead) + 1

    private def take(width: Int): Long = {
      val taken = ahead >>> (64 - width)
      ahead <<= width
      bits -= width
      taken
    }

    private def fill(): Unit = while (bits <= 56 && at < encoded.length) {
      ahead |= (encoded(at) & 255L) << (56 - bits)
      bits += 8
      at += 1
    }
  }

  private final class Writer {
    private[this] val bytes = new ByteArrayOutputStream
    private[this] var ahead = 0L // the bits that are not written yet, from the highest on
    private[this] var bits = 0

    def write(number: Long): Unit = {
      val zeros = 63 - java.lang.Long.numberOfLeadingZeros(number)
      put(0, zeros)
      put(number, zeros + 1)
    }

    def toBytes: Array[Byte] = {
      put(0, (8 - bits) % 8)
      bytes.toByteArray
    }

    /** At most 56 bits: up to seven are there before. */
    private def put(number: Long, width: Int): Unit = {
      bits += width
      ahead |= number << (64 - bits)
      while (bits >= 8) {
        bytes.write((ahead >>> 56).toInt)
        ahead <<= 8
        bits -= 8
      }
    }
  }
}
