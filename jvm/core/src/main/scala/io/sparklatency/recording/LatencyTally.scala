package io.sparklatency.recording

/**
 * Adds up milliseconds, many records at a time: count, minimum, maximum, sum and a histogram, of which a [[LatencySummary]] is
 * made.
 *
 * @param bits of the layout: those of a summary, or more where values are to be shifted before
 */
private[sparklatency] final class LatencyTally(bits: Int = LatencyTally.Bits) {
  import LatencyTally._

  private[this] var buckets = new BucketCounts
  private[this] var negative = new BucketCounts // of what is below 0, by how far
  private[this] var records = 0L
  private[this] var min = Long.MaxValue
  private[this] var max = Long.MinValue
  private[this] val sum = new ExactSum
  private[this] var aheadOfClock = 0L
  private[this] var withoutTimestamp = 0L

  /** To count and histogram. */
  def add(ms: Long, count: Long): Unit = {
    records += count
    if (ms < 0) negative.add(BucketLayout.bucketOf(-ms, bits), count)
    else buckets.add(BucketLayout.bucketOf(ms, bits), count)
  }

  /** One record, to all else. */
  def addOne(ms: Long, isAheadOfClock: Boolean): Unit = {
    if (ms < min) min = ms
    if (ms > max) max = ms
    sum += ms
    if (isAheadOfClock) aheadOfClock += 1
  }

  /** Many, to all else. */
  def add(min: Long, max: Long, sum: BigInt, aheadOfClock: Long): Unit = {
    this.min = math.min(this.min, min)
    this.max = math.max(this.max, max)
    this.sum += sum
    this.aheadOfClock += aheadOfClock
  }

  def addWithoutTimestamp(records: Long): Unit = withoutTimestamp += records

  /** Whether there are negative ones, which the histogram of a summary does not hold. */
  def isSigned: Boolean = !negative.isEmpty

  /** A summary of all of it `ms` later, where nothing is negative any more. */
  def summary(ms: Long = 0): LatencySummary = {
    val moved = new BucketCounts
    def move(value: Long, count: Long): Unit = moved.add(bucketOf(math.max(0, value)), count)
    buckets.foreach((bucket, count) => move(BucketLayout.middleOf(bucket, bits) + ms, count))
    negative.foreach((bucket, count) => move(ms - BucketLayout.middleOf(bucket, bits), count))
    LatencySummary(
      records,
      min + ms,
      max + ms,
      sum.total + BigInt(ms) * records,
      withoutTimestamp,
      aheadOfClock,
      moved.encode
    )
  }

  def clear(): Unit = {
    buckets = new BucketCounts
    negative = new BucketCounts
    records = 0
    min = Long.MaxValue
    max = Long.MinValue
    sum.clear()
    aheadOfClock = 0
    withoutTimestamp = 0
  }
}

private[sparklatency] object LatencyTally {

  /** Two significant digits: values below 256 are exact, above them a bucket holds at most 1/128 of the value. */
  final val Bits = 7

  val Buckets: Int = BucketLayout.size(Bits)

  def bucketOf(ms: Long): Int = BucketLayout.bucketOf(ms, Bits)
  def lowestOf(bucket: Int): Long = BucketLayout.lowestOf(bucket, Bits)
  def highestOf(bucket: Int): Long = BucketLayout.highestOf(bucket, Bits)
}
