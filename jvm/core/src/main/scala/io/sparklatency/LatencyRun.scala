package io.sparklatency

/**
 * The latencies taken at one reading of the clock: minimum, maximum, sum and a histogram. One writer, no locks, 2 KB at first, 16 KB
 * where the longest are ten times the shortest.
 *
 * While the clock's reading stands, a record's age at any other time is its latency and a difference that is the same for all. So
 * a record is taken once, however many such times there are, and a run is added to what is kept for each of them when the clock
 * is read anew: [[settle]], at most once a millisecond.
 *
 * The histogram has HdrHistogram's layout and [[BucketCounts]]: `recordValue` takes up to a nanosecond more a record, a fifth of
 * the whole. Its buckets are narrower than a summary's, so that moving them by the difference costs percentiles little.
 */
private[sparklatency] final class LatencyRun {
  import LatencyRun._

  private[this] val buckets = new BucketCounts
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
    else buckets.add(BucketLayout.bucketOf(ms, Bits), 1)
  }

  /** Moves all there is into `latencies`, and into `ages`, where there are any, as it was `olderByMs` later. */
  def settle(latencies: LatencyTally, ages: Option[LatencyTally], olderByMs: => Long): Unit =
    if (min <= max) {
      move(latencies, 0)
      ages.foreach(move(_, olderByMs))
      clear()
    }

  /** The timestamp of the oldest record, where the clock reads `readMs`; without records the greatest number. */
  def oldest(readMs: Long): Long = if (min <= max) readMs - max else Long.MaxValue

  private def move(tally: LatencyTally, olderByMs: Long): Unit = {
    var records = 0L
    buckets.foreach(lowestBucket, highestBucket) { (bucket, count) =>
      tally.add(BucketLayout.middleOf(bucket, Bits) + olderByMs, count)
      records += count
    }
    tally.add(min + olderByMs, max + olderByMs, carried + sum + BigInt(olderByMs) * records, aheadOfClock)
  }

  private def clear(): Unit = {
    buckets.clear(lowestBucket, highestBucket)
    min = Long.MaxValue
    max = Long.MinValue
    sum = 0
    carried = 0
    aheadOfClock = 0
  }

  private def lowestBucket = BucketLayout.bucketOf(math.max(min, 0), Bits)
  private def highestBucket = BucketLayout.bucketOf(math.max(max, 0), Bits)

  private def addAhead(): Unit = {
    aheadOfClock += 1
    buckets.add(0, 1)
  }

  /** Timestamps of the far future add up to more than a Long holds. */
  private def carry(ms: Long): Unit = {
    carried += sum
    sum = ms
  }
}

private[sparklatency] object LatencyRun {

  /** Four times as fine as a summary's: values that are shifted twice and rounded to one are then still within 1 %. */
  final val Bits = 9
}
