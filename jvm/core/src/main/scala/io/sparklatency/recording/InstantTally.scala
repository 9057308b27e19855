package io.sparklatency.recording

/**
 * Adds up the latencies that a [[WriterTally]] hands over: those of one reading of the clock, where ages at other times are
 * wanted as well. While the clock's reading stands, a record's age at any other time is its latency and a difference that is the
 * same for all. So a record is taken once, however many such times there are, and all are [[moveTo moved]] to what is kept for
 * each of them when the clock shows another time. The buckets are narrower than a summary's, so that moving them by the
 * difference costs percentiles little. One writer.
 */
private[recording] final class InstantTally {
  import InstantTally._

  private var buckets = new BucketCounts
  private var min = Long.MaxValue // above `max` where no record was measured
  private var max = Long.MinValue
  private var sum = 0L
  private var otherSum = BigInt(0) // what `sum` does not hold
  private var aheadOfClock = 0L
  private var withoutTimestamp = 0L
  private var oldestMs = Long.MaxValue

  /** A record with this timestamp is so old. */
  def add(timestampMs: Long, ms: Long): Unit = {
    buckets.add(bucketOf(ms), 1)
    if (sum.abs > HalfOfLong || ms.abs > HalfOfLong) {
      otherSum += BigInt(sum) + ms
      sum = 0
    } else sum += ms
    if (ms < 0) aheadOfClock += 1
    if (ms < min) min = ms
    if (ms > max) max = ms
    if (timestampMs < oldestMs) oldestMs = timestampMs
  }

  /** So many records of each number of milliseconds from `first` on, with no timestamp before [[oldest]]. */
  def add(first: Long, counts: Array[Int]): Unit = {
    var (records, sumOverFirst, lowest, highest, place) = (0L, 0L, -1, -1, 0)
    while (place < counts.length) {
      val count = counts(place)
      if (count > 0) {
        buckets.add(bucketOf(first + place), count.toLong)
        records += count
        sumOverFirst += count.toLong * place
        if (lowest < 0) lowest = place
        highest = place
      }
      place += 1
    }
    if (records > 0) {
      otherSum += BigInt(first) * records + sumOverFirst
      min = math.min(min, first + lowest)
      max = math.max(max, first + highest)
    }
  }

  def addWithoutTimestamp(records: Long): Unit = withoutTimestamp += records

  /** The timestamp of the oldest record; without records the greatest number. */
  def oldest: Long = oldestMs

  /** The lowest latency and the highest, where a record was measured. */
  def range: (Long, Long) = (min, max)

  /** Adds all to `tally`, as it is `olderByMs` later. */
  def moveTo(tally: LatencyTally, olderByMs: Long): Unit = {
    tally.addWithoutTimestamp(withoutTimestamp)
    if (hasMeasured) {
      var records = 0L
      foreach { (bucket, count) =>
        tally.add(BucketLayout.middleOf(bucket, Bits) + olderByMs, count)
        records += count
      }
      tally.add(min + olderByMs, max + olderByMs, total + BigInt(olderByMs) * records, aheadOfClock)
    }
  }

  def copy(): InstantTally = {
    val copy = new InstantTally
    copy.buckets = buckets.copy()
    copy.min = min
    copy.max = max
    copy.otherSum = total
    copy.aheadOfClock = aheadOfClock
    copy.withoutTimestamp = withoutTimestamp
    copy.oldestMs = oldestMs
    copy
  }

  /**
   * Takes an earlier copy away. What remains is exact but for minimum, maximum and oldest: where it is not nothing, those are the
   * copy's as well.
   */
  def remove(copy: InstantTally): Unit = {
    copy.foreach((bucket, count) => buckets.add(bucket, -count))
    otherSum -= copy.total
    aheadOfClock -= copy.aheadOfClock
    withoutTimestamp -= copy.withoutTimestamp
    if (!hasMeasured || buckets.areEmpty(bucketOf(min), bucketOf(max))) forgetExtremes()
  }

  /** Keeps the room. */
  def clear(): Unit = {
    if (hasMeasured) buckets.clear(bucketOf(min), bucketOf(max))
    sum = 0
    otherSum = 0
    aheadOfClock = 0
    withoutTimestamp = 0
    forgetExtremes()
  }

  private def total: BigInt = otherSum + sum
  private def hasMeasured = min <= max

  private def foreach(use: (Int, Long) => Unit): Unit =
    if (hasMeasured) buckets.foreach(bucketOf(min), bucketOf(max))(use)

  private def forgetExtremes(): Unit = {
    min = Long.MaxValue
    max = Long.MinValue
    oldestMs = Long.MaxValue
  }
}

private[recording] object InstantTally {

  /** Four times as fine as a summary's: values that are shifted twice and rounded to one are then still within 1 %. */
  final val Bits = 9

  /** Two of these are still a Long. */
  private val HalfOfLong = 1L << 61

  /** That of 0 where the record is ahead of the clock. */
  private def bucketOf(ms: Long): Int = BucketLayout.bucketOf(math.max(ms, 0), Bits)
}
