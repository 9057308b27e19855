package io.sparklatency

/**
 * Adds up milliseconds, many records at a time: minimum, maximum, sum and a histogram of HdrHistogram's layout at two significant
 * digits, at most 64 KB, which [[LatencySummary]] hands over to HdrHistogram.
 */
private[sparklatency] final class LatencyTally {
  import LatencyTally._

  private[this] var buckets = Array.emptyLongArray
  private[this] var negative = Array.emptyLongArray // of what is below 0, by how far
  private[this] var min = Long.MaxValue
  private[this] var max = Long.MinValue
  private[this] var sum = BigInt(0)
  private[this] var aheadOfClock = 0L

  /** To the histogram. */
  def add(ms: Long, count: Long): Unit =
    if (ms < 0) negative = BucketCounts.add(layout.bucketOf(-ms), count, negative)
    else buckets = BucketCounts.add(layout.bucketOf(ms), count, buckets)

  /** To all else. */
  def add(min: Long, max: Long, sum: BigInt, aheadOfClock: Long): Unit = {
    this.min = math.min(this.min, min)
    this.max = math.max(this.max, max)
    this.sum += sum
    this.aheadOfClock += aheadOfClock
  }

  /** Whether there are negative ones, which the histogram of a summary does not hold. */
  def isSigned: Boolean = negative.nonEmpty

  def summary(withoutTimestamp: Long): LatencySummary =
    LatencySummary(buckets, min, max, sum, withoutTimestamp, aheadOfClock)

  /** The same, all of it `ms` later, where nothing is negative any more. */
  def later(ms: Long): LatencyTally = {
    val all = new LatencyTally
    for (bucket <- buckets.indices if buckets(bucket) > 0)
      all.add(layout.lowestOf(bucket) + ms, buckets(bucket))
    for (bucket <- negative.indices if negative(bucket) > 0)
      all.add(math.max(0, ms - layout.lowestOf(bucket)), negative(bucket))
    all.add(min + ms, max + ms, sum + BigInt(ms) * (buckets.sum + negative.sum), aheadOfClock)
    all
  }

  def clear(): Unit = {
    java.util.Arrays.fill(buckets, 0L)
    negative = Array.emptyLongArray
    min = Long.MaxValue
    max = Long.MinValue
    sum = 0
    aheadOfClock = 0
  }
}

private[sparklatency] object LatencyTally {

  /** Values below 256 are exact, above them a bucket holds at most 1/128 of the value. */
  val layout = new BucketLayout(7)
}
