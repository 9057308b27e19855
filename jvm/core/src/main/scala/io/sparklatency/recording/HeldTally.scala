package io.sparklatency.recording

/** Adds up the latencies of the records that a [[WriterTally]] has and has not handed over yet. One writer. */
private[recording] final class HeldTally {
  import HeldTally._

  private var buckets = new BucketCounts
  private var min = Long.MaxValue // above `max` where no record was measured
  private var max = Long.MinValue
  private val sum = new ExactSum
  private var aheadOfClock = 0L
  private var withoutTimestamp = 0L
  private var oldestMs = Long.MaxValue

  /** A record with this timestamp is so old. */
  def add(timestampMs: Long, ms: Long): Unit = {
    buckets.add(bucketOf(ms), 1)
    sum += ms
    if (ms < 0) aheadOfClock += 1
    if (ms < min) min = ms
    if (ms > max) max = ms
    if (timestampMs < oldestMs) oldestMs = timestampMs
  }

  /**
   * So many records of each number of milliseconds from `first` on, in the cells before `end`, with no timestamp before [[oldest]].
   * Bucket by bucket: whether a single cell is empty is hard to guess for a processor, and a wrong guess takes as long as ten cells.
   *
   * @param ages takes them as well, if the clock showed `readMs` for all of them
   */
  def add(
      first: Long,
      counts: Array[Int],
      end: Int,
      ages: Option[AgeTally] = None,
      readMs: Long = 0
  ): Unit = {
    val bits = if (ages.isEmpty) LatencyTally.Bits else AgeTally.Bits
    var records = 0L
    var sumOverFirst = 0L
    var place = 0
    while (place < end) {
      val lowest = first + place
      val bucket = BucketLayout.bucketOf(lowest, bits)
      // Its last cell, not where the next bucket begins: no Long holds that of the last bucket.
      val last = math.min(BucketLayout.highestOf(bucket, bits) - first, end - 1L).toInt
      var inBucket = 0L
      while (place <= last) {
        val count = counts(place).toLong
        inBucket += count
        sumOverFirst += count * place
        place += 1
      }
      if (inBucket > 0) {
        records += inBucket
        buckets.add(bucketOf(lowest), inBucket)
        ages match {
          case Some(older) => older.addToHistogram(BucketLayout.middleOf(bucket, bits), inBucket, readMs)
          case None =>
        }
      }
    }
    if (records > 0) {
      val (lowest, highest) = (first + firstFilled(counts), first + lastFilled(counts, end))
      val all = BigInt(first) * records + sumOverFirst
      sum += all
      min = math.min(min, lowest)
      max = math.max(max, highest)
      ages.foreach(_.add(lowest, highest, all, records, readMs))
    }
  }

  def addWithoutTimestamp(records: Long): Unit = withoutTimestamp += records

  /** The timestamp of the oldest record; without records the greatest number. */
  def oldest: Long = oldestMs

  /** The lowest latency and the highest, where a record was measured. */
  def range: (Long, Long) = (min, max)

  /** Adds all to `tally`. */
  def addTo(tally: LatencyTally): Unit = {
    tally.addWithoutTimestamp(withoutTimestamp)
    if (hasMeasured) {
      foreach((bucket, count) => tally.add(BucketLayout.middleOf(bucket, LatencyTally.Bits), count))
      tally.add(min, max, sum.total, aheadOfClock)
    }
  }

  def copy(): HeldTally = {
    val copy = new HeldTally
    copy.buckets = buckets.copy()
    copy.min = min
    copy.max = max
    copy.sum += sum.total
    copy.aheadOfClock = aheadOfClock
    copy.withoutTimestamp = withoutTimestamp
    copy.oldestMs = oldestMs
    copy
  }

  /**
   * Takes an earlier copy away. What remains is exact but for minimum, maximum and oldest: where it is not nothing, those are the
   * copy's as well.
   */
  def remove(copy: HeldTally): Unit = {
    copy.foreach((bucket, count) => buckets.add(bucket, -count))
    sum += -copy.sum.total
    aheadOfClock -= copy.aheadOfClock
    withoutTimestamp -= copy.withoutTimestamp
    if (!hasMeasured || buckets.areEmpty(bucketOf(min), bucketOf(max))) forgetExtremes()
  }

  /** Keeps the room. */
  def clear(): Unit = {
    if (hasMeasured) buckets.clear(bucketOf(min), bucketOf(max))
    sum.clear()
    aheadOfClock = 0
    withoutTimestamp = 0
    forgetExtremes()
  }

  private def hasMeasured = min <= max

  private def foreach(use: (Int, Long) => Unit): Unit =
    if (hasMeasured) buckets.foreach(bucketOf(min), bucketOf(max))(use)

  private def forgetExtremes(): Unit = {
    min = Long.MaxValue
    max = Long.MinValue
    oldestMs = Long.MaxValue
  }
}

private object HeldTally {

  private def firstFilled(cells: Array[Int]): Int = {
    var place = 0
    while (cells(place) == 0) place += 1
    place
  }

  private def lastFilled(cells: Array[Int], end: Int): Int = {
    var place = end - 1
    while (cells(place) == 0) place -= 1
    place
  }

  /** That of 0 where the record is ahead of the clock. */
  private def bucketOf(ms: Long): Int = LatencyTally.bucketOf(math.max(ms, 0))
}
