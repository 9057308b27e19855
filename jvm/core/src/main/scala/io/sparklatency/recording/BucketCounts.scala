package io.sparklatency.recording

import java.util.Arrays

/**
 * Counts of a histogram's buckets. There is room from about the lowest to about the highest of those that hold anything: latencies
 * of one task lie close together, however long they are. One writer.
 */
private[sparklatency] final class BucketCounts {
  import BucketCounts._

  private[this] var counts = Array.emptyLongArray
  private[this] var first = 0

  def isEmpty: Boolean = counts.isEmpty

  def add(bucket: Int, count: Long): Unit = {
    if (bucket < first || bucket - first >= counts.length) widen(bucket)
    counts(bucket - first) += count
  }

  def add(encoded: Array[Byte]): Unit = {
    val cursor = new Cursor(encoded)
    while (cursor.next()) add(cursor.bucket, cursor.count)
  }

  /** Hands over what is not empty, the lowest first. */
  def foreach(use: (Int, Long) => Unit): Unit = foreach(first, first + counts.length - 1)(use)

  /** The same, where both ends of it have been added to. */
  def foreach(lowest: Int, highest: Int)(use: (Int, Long) => Unit): Unit = {
    var bucket = lowest
    while (bucket <= highest) {
      val count = counts(bucket - first)
      if (count > 0) use(bucket, count)
      bucket += 1
    }
  }

  /** Whether nothing is left from one bucket to another, both of which have been added to. */
  def areEmpty(lowest: Int, highest: Int): Boolean = {
    var bucket = lowest
    while (bucket <= highest && counts(bucket - first) == 0) bucket += 1
    bucket > highest
  }

  def copy(): BucketCounts = {
    val copy = new BucketCounts
    copy.become(counts.clone, first)
    copy
  }

  private def become(counts: Array[Long], first: Int): Unit = {
    this.counts = counts
    this.first = first
  }

  /** Keeps the room. */
  def clear(lowest: Int, highest: Int): Unit = Arrays.fill(counts, lowest - first, highest - first + 1, 0L)

  /**
   * As bytes, of which a driver keeps one array for each partition of a batch, and adds up many without a histogram in between.
   *
   * For each bucket that holds anything there is one more than the number of empty ones before it, and its count, both below
   * 2^56^, in Elias' gamma code: as many zeros as the number has bits after its first, and then its bits. Few records a bucket and
   * short gaps, as partitions have them, take less than a byte a bucket; HdrHistogram's own encoding takes forty bytes to begin
   * with, and one or two a bucket. What remains of the last byte is zeros.
   */
  def encode: Array[Byte] = {
    val code = new Writer
    var next = 0
    foreach { (bucket, count) =>
      code.write(bucket - next + 1L)
      code.write(count)
      next = bucket + 1
    }
    code.toBytes
  }

  /** To twice the room, on the side where it was too short. */
  private def widen(bucket: Int): Unit = {
    if (isEmpty) first = math.max(0, bucket - FirstRoom / 2)
    val (low, end) = (math.min(first, bucket), math.max(first + counts.length, bucket + 1))
    val wider = new Array[Long](math.max(end - low, math.max(2 * counts.length, FirstRoom)))
    val from = if (bucket < first) math.max(0, end - wider.length) else low
    System.arraycopy(counts, 0, wider, first - from, counts.length)
    counts = wider
    first = from
  }
}

private[sparklatency] object BucketCounts {
  private val FirstRoom = 32
  private val FirstBytes = 32

  /**
   * Goes from one bucket that is not empty to the next.
   *
   * @param buckets how many the layout has
   */
  final class Cursor(encoded: Array[Byte], buckets: Int = LatencyTally.Buckets) {
    private[this] var at = 0
    private[this] var ahead = 0L // the bits that come next, from the highest on
    private[this] var bits = 0
    var bucket: Int = -1
    var count: Long = 0

    def next(): Boolean = {
      val gap = read()
      if (gap > 0) {
        if (gap >= buckets - bucket)
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
    private[this] var bytes = new Array[Byte](FirstBytes)
    private[this] var written = 0
    private[this] var ahead = 0L // the bits that are not written yet, from the highest on
    private[this] var bits = 0

    def write(number: Long): Unit = {
      val zeros = 63 - java.lang.Long.numberOfLeadingZeros(number)
      // In so many bits the number has its zeros before it.
      if (zeros < 28) put(number, 2 * zeros + 1)
      else {
        put(0, zeros)
        put(number, zeros + 1)
      }
    }

    def toBytes: Array[Byte] = {
      put(0, (8 - bits) % 8)
      Arrays.copyOf(bytes, written)
    }

    /** At most 56 bits: up to seven are there before. */
    private def put(number: Long, width: Int): Unit = {
      bits += width
      ahead |= number << (64 - bits)
      if (written + 8 > bytes.length) bytes = Arrays.copyOf(bytes, 2 * bytes.length)
      while (bits >= 8) {
        bytes(written) = (ahead >>> 56).toByte
        written += 1
        ahead <<= 8
        bits -= 8
      }
    }
  }
}
