package io.sparklatency

/**
 * Adds up milliseconds, one record at a time: minimum, maximum, sum and a histogram. One writer, no locks, 4 KB at first and at
 * most 64 KB.
 *
 * The histogram has HdrHistogram's layout at two significant digits (values below 256 exact, above them buckets of at most
 * 1/128 of the value), kept as a bare array: `recordValue` takes up to a nanosecond more a record, a quarter of the whole.
 * [[LatencySummary]] hands it over to HdrHistogram.
 */
private[sparklatency] final class LatencyTally {
  import LatencyTally._

  private[this] var buckets = new Array[Long](FirstBuckets)
  private[this] var min = Long.MaxValue
  private[this] var max = Long.MinValue
  private[this] var sum = 0L
  private[this] var carried = BigInt(0)
  private[this] var aheadOfClock = 0L

  def add(ms: Long): Unit = {
    if (ms < min) min = ms
    if (ms > max) max = ms
    val total = sum + ms
    if (((sum ^ total) & (ms ^ total)) < 0) carry(ms) else sum = total
    if (ms < 0) addAhead()
    else {
      val bucket = bucketOf(ms)
      if (bucket >= buckets.length) grow(bucket)
      buckets(bucket) += 1
    }
  }

  def summary(withoutTimestamp: Long): LatencySummary =
    LatencySummary(buckets, min, max, carried + sum, withoutTimestamp, aheadOfClock)

  def clear(): Unit = {
    java.util.Arrays.fill(buckets, 0L)
    min = Long.MaxValue
    max = Long.MinValue
    sum = 0
    carried = 0
    aheadOfClock = 0
  }

  private def addAhead(): Unit = {
    aheadOfClock += 1
    buckets(0) += 1
  }

  /** Timestamps of the far future add up to more than a Long holds. */
  private def carry(ms: Long): Unit = {
    carried += sum
    sum = ms
  }

  private def grow(bucket: Int): Unit =
    buckets = java.util.Arrays.copyOf(buckets, math.max(bucket + 1, buckets.length * 2))
}

private[sparklatency] object LatencyTally {

  /** Up to a second. A task that coalesces thousands of partitions has a recorder for each of them. */
  private val FirstBuckets = 512

  /** Of all that a Long can hold. */
  val Buckets: Int = bucketOf(Long.MaxValue) + 1

  def bucketOf(ms: Long): Int = {
    val shift = 56 - java.lang.Long.numberOfLeadingZeros(ms | 255L)
    (shift << 7) + (ms >>> shift).toInt
  }

  /** The smallest number of milliseconds in a bucket: the inverse of [[bucketOf]]. */
  def lowestOf(bucket: Int): Long =
    if (bucket < 256) bucket.toLong
    else {
      val shift = (bucket >>> 7) - 1
      (bucket - (shift << 7)).toLong << shift
    }
}
