package io.sparklatency.recording

/**
 * Records that were taken at one reading of the clock: what a [[WriterTally]] holds, or a copy of it.
 *
 * While the clock's reading stands, a record's age at any other time is its latency and a difference that is the same for all. So
 * a record is taken once, however many such times there are, and all are [[moveTo moved]] to what is kept for each of them when
 * the clock shows another time, at most once a millisecond. The buckets are narrower than a summary's, so that moving them by the
 * difference costs percentiles little.
 *
 * @param min     above `max` where no record was measured
 * @param buckets of `Bits`
 */
private[recording] final class InstantTally(
    val min: Long,
    val max: Long,
    val sum: BigInt,
    val aheadOfClock: Long,
    val withoutTimestamp: Long,
    buckets: BucketCounts
) {
  import InstantTally._

  /** The timestamp of the oldest record, where the clock reads `readMs`; without records the greatest number. */
  def oldest(readMs: Long): Long = if (hasMeasured) readMs - max else Long.MaxValue

  /** Adds all to `tally`, as it is `olderByMs` later. */
  def moveTo(tally: LatencyTally, olderByMs: Long): Unit = {
    tally.addWithoutTimestamp(withoutTimestamp)
    if (hasMeasured) {
      var records = 0L
      foreach { (bucket, count) =>
        tally.add(BucketLayout.middleOf(bucket, Bits) + olderByMs, count)
        records += count
      }
      tally.add(min + olderByMs, max + olderByMs, sum + BigInt(olderByMs) * records, aheadOfClock)
    }
  }

  /** Hands over the buckets that hold anything. */
  def foreach(use: (Int, Long) => Unit): Unit =
    if (hasMeasured) buckets.foreach(bucketOf(min), bucketOf(max))(use)

  private def hasMeasured = min <= max
}

private[recording] object InstantTally {

  /** Four times as fine as a summary's: values that are shifted twice and rounded to one are then still within 1 %. */
  final val Bits = 9

  /** That of 0 where the record is ahead of the clock. */
  def bucketOf(ms: Long): Int = BucketLayout.bucketOf(math.max(ms, 0), Bits)
}
