package io.sparklatency

/**
 * Adds up milliseconds, many records at a time: minimum, maximum, sum and a histogram of HdrHistogram's layout, which
 * [[LatencySummary]] hands over to HdrHistogram.
 *
 * @param bits of the layout: those of a summary, or more where values are to be shifted before
 */
private[sparklatency] final class LatencyTally(bits: Int = LatencyTally.Bits) {
  import LatencyTally._

  private[this] var buckets = Array.emptyLongArray
  private[this] var negative = Array.emptyLongArray // of what is below 0, by how far
  private[this] var count = 0L
  private[this] var min = Long.MaxValue
  private[this] var max = Long.MinValue
  private[this] var sum = BigInt(0)
  private[this] var aheadOfClock = 0L

  /** To the histogram. */
  def add(ms: Long, count: Long): Unit = {
    this.count += count
    if (ms < 0) negative = BucketCounts.add(BucketLayout.bucketOf(-ms, bits), count, negative)
    else buckets = BucketCounts.add(BucketLayout.bucketOf(ms, bits), count, buckets)
  }

  /** To all else. */
  def add(min: Long, max: Long, sum: BigInt, aheadOfClock: Long): Unit = {
    this.min = math.min(this.min, min)
    this.max = math.max(this.max, max)
    this.sum += sum
    this.aheadOfClock += aheadOfClock
  }

  /** Whether there are negative ones, which the histogram of a summary does not hold. */
  def isSigned: Boolean = negative.nonEmpty

  /** A summary of all of it `ms` later, where nothing is negative any more. */
  def summary(withoutTimestamp: Long, ms: Long = 0): LatencySummary = {
    var moved = Array.emptyLongArray
    def move(value: Long, count: Long): Unit =
      moved = BucketCounts.add(bucketOf(math.max(0, value)), count, moved)
    BucketCounts.foreach(buckets)((bucket, count) => move(BucketLayout.middleOf(bucket, bits) + ms, count))
    BucketCounts.foreach(negative)((bucket, count) => move(ms - BucketLayout.middleOf(bucket, bits), count))
    LatencySummary(
      count,
      min + ms,
      max + ms,
      sum + BigInt(ms) * count,
      withoutTimestamp,
      aheadOfClock,
      BucketCounts.encode(moved)
    )
  }

  def clear(): Unit = {
    java.util.Arrays.fill(buckets, 0L)
    negative = Array.emptyLongArray
    count = 0
    min = Long.MaxValue
    max = Long.MinValue
    sum = 0
    aheadOfClock = 0
  }
}

private[sparklatency] object LatencyTally {

  /** Two significant digits: values below 256 are exact, above them a bucket holds at most 1/128 of the value. */
  final val Bits = 7

  val Buckets: Int = BucketLayout.size(Bits)

  def bucketOf(ms: Long): Int = BucketLayout.bucketOf(ms, Bits)
  def lowestOf(bucket: Int): Long = BucketLayout.lowestOf(bucket, Bits)
}
