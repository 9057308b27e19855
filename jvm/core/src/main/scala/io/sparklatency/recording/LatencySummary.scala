package io.sparklatency.recording

/**
 * What is known of a number of records: immutable, mergeable, serializable, a few hundred bytes. Latencies in milliseconds.
 *
 * `count`, `min`, `max` and `sum` are exact and keep their sign: a timestamp ahead of the clock gives a negative latency. The
 * histogram, from which percentiles come, takes such a record as 0; and percentiles lie within minimum and maximum, so if all
 * records are ahead of the clock each percentile is the maximum. Without a measured record there is no minimum, maximum,
 * average or percentile: those are `None`, never 0.
 *
 * @param count            records that were measured
 * @param withoutTimestamp records that were not, for their timestamp was null or before the epoch
 * @param aheadOfClock     measured records whose timestamp lay in the future
 */
final class LatencySummary private (
    val count: Long,
    private[recording] val lowest: Long,
    private[recording] val highest: Long,
    private val plainSum: Long,
    private val hugeSum: Option[BigInt],
    val withoutTimestamp: Long,
    val aheadOfClock: Long,
    private[recording] val encoded: Array[Byte]
) extends Serializable {
  import LatencySummary._

  def sum: BigInt = hugeSum.getOrElse(BigInt(plainSum))
  def records: Long = count + withoutTimestamp
  def isEmpty: Boolean = records == 0

  def min: Option[Long] = measured(lowest)
  def max: Option[Long] = measured(highest)
  def avg: Option[Double] = measured(
    if (hugeSum.isEmpty && math.abs(plainSum) <= ExactDouble) plainSum.toDouble / count
    else (BigDecimal(sum) / BigDecimal(count)).toDouble
  )

  /** How far the timestamp furthest ahead of the clock was ahead of it. */
  def maxLead: Option[Long] = if (aheadOfClock > 0) Some(-lowest) else None

  /** The latency that `percent` of the records do not exceed, at most 1 % too high, within `min` and `max`: see [[Percentiles]]. */
  def percentile(percent: Double): Option[Long] = percentiles(Seq(percent)).head

  /** Several percentiles for the price of reading the buckets once. */
  def percentiles(percents: Seq[Double]): Seq[Option[Long]] =
    if (count == 0) percents.map(_ => None)
    else Percentiles.at(percents, encoded, count).toSeq.map(ms => Some(ms.min(highest).max(lowest)))

  /** How many of the measured records have at most each of these latencies, give or take 1 % of it. Those ahead of the clock have. */
  def countsUpTo(latencies: Seq[Long]): Seq[Long] =
    if (count == 0) latencies.map(_ => 0L)
    else Percentiles.countsUpTo(latencies, encoded).toSeq

  /**
   * By how much records exceed this latency, on average over all records: those below it count as 0. Within 1 % of the latency, and never
   * more for a higher one: where latencies lie closer together than a bucket is wide, what they can be at all tells more than the buckets.
   */
  def meanBeyond(ms: Double): Double =
    if (count == 0 || ms >= highest) 0
    else avg.fold(0.0) { avg =>
      if (ms <= lowest) avg - ms
      else {
        val most = (highest - ms) * (avg - lowest) / (highest - lowest).toDouble
        (Percentiles.sumBeyond(ms, encoded) / count).min(most).max(avg - ms).max(0)
      }
    }

  /**
   * The sum of the latencies, those of records ahead of the clock taken as 0. It is never less where records are added. Exact without such
   * a record, or where all of them are as far ahead; else up to 2 % too much.
   */
  def sumFromZero: Double = maxLead.fold(sum.toDouble) { lead =>
    (sum + BigInt(aheadOfClock) * lead).toDouble.min(Percentiles.sumAtMost(encoded))
  }

  /** What [[LatencySummary.fromBytes]] reads: tasks send it to the driver, and events carry it into the event log. */
  def toBytes: Array[Byte] = SummaryFormat.write(this)

  def +(other: LatencySummary): LatencySummary = merge(Seq(this, other))

  private def measured[A](value: => A): Option[A] = if (count == 0) None else Some(value)
}

object LatencySummary {

  /** Whole numbers up to here are Doubles. */
  private val ExactDouble = 1L << 53

  val empty: LatencySummary =
    LatencySummary(0, Long.MaxValue, Long.MinValue, BigInt(0), 0, 0, Array.emptyByteArray)

  /** Reads what any version up to this one wrote; what a newer one wrote is a [[NewerFormatException]]. */
  def fromBytes(bytes: Array[Byte]): LatencySummary = SummaryFormat.read(bytes)

  /** The summary of all the records of all of `parts`, whatever their order. */
  def merge(parts: Iterable[LatencySummary]): LatencySummary = {
    val many = parts.iterator.filterNot(_.isEmpty).toArray
    if (many.length < 2) many.headOption.getOrElse(empty)
    else {
      val buckets = new BucketCounts
      var (count, lowest, highest) = (0L, Long.MaxValue, Long.MinValue)
      val sum = new ExactSum
      var (withoutTimestamp, aheadOfClock) = (0L, 0L)
      many.foreach { part =>
        buckets.add(part.encoded)
        count += part.count
        lowest = math.min(lowest, part.lowest)
        highest = math.max(highest, part.highest)
        if (part.hugeSum.isEmpty) sum += part.plainSum else sum += part.sum
        withoutTimestamp += part.withoutTimestamp
        aheadOfClock += part.aheadOfClock
      }
      LatencySummary(count, lowest, highest, sum.total, withoutTimestamp, aheadOfClock, buckets.encode)
    }
  }

  /**
   * The ages of all these records at one time, where each summary has their ages at an earlier one, so many milliseconds before.
   * Count, minimum, maximum and sum are exact; percentiles may then also be too low, by 1 % at most. How many records are ahead of
   * the clock then is known only when none is. Else it is at most as many as now, or at a time before, some more than are.
   */
  def later(parts: Iterable[(LatencySummary, Long)]): LatencySummary =
    // Where the bucket begins: its end would add its error to that of the next bucket.
    moved(parts)(LatencyTally.lowestOf)

  /**
   * The same of records that have been moved in this way already, each taken for as old as it may have been: percentiles are never too low,
   * and too high by 2 % of the ages that they were made of at the most, and by 1 % of their own.
   */
  private[sparklatency] def laterAtMost(parts: Iterable[(LatencySummary, Long)]): LatencySummary =
    moved(parts)(bucket => 2 * LatencyTally.highestOf(bucket) - LatencyTally.lowestOf(bucket))

  private def moved(parts: Iterable[(LatencySummary, Long)])(ageIn: Int => Long): LatencySummary = {
    val known = parts.filter { case (part, _) => part.count > 0 }
    val moved = new BucketCounts
    var ahead = 0L
    for ((part, ms) <- known) {
      val isAhead = part.lowest + ms < 0
      if (isAhead && ms >= 0) ahead += part.aheadOfClock
      val cursor = new BucketCounts.Cursor(part.encoded)
      while (cursor.next()) {
        val age = (ageIn(cursor.bucket) + ms).max(0L)
        moved.add(LatencyTally.bucketOf(age), cursor.count)
        if (isAhead && ms < 0 && LatencyTally.lowestOf(cursor.bucket) + ms < 0) ahead += cursor.count
      }
    }
    LatencySummary(
      known.map { case (part, _) => part.count }.sum,
      known.map { case (part, ms) => part.lowest + ms }.minOption.getOrElse(Long.MaxValue),
      known.map { case (part, ms) => part.highest + ms }.maxOption.getOrElse(Long.MinValue),
      known.map { case (part, ms) => part.sum + BigInt(ms) * part.count }.sum,
      parts.map { case (part, _) => part.withoutTimestamp }.sum,
      ahead,
      moved.encode
    )
  }

  /**
   * A driver keeps many of these, and hardly ever a sum that a Long does not hold.
   *
   * @param encoded the buckets of `count` records
   */
  private[sparklatency] def apply(
      count: Long,
      lowest: Long,
      highest: Long,
      sum: BigInt,
      withoutTimestamp: Long,
      aheadOfClock: Long,
      encoded: Array[Byte]
  ): LatencySummary = {
    val (plain, huge) = if (sum.isValidLong) (sum.toLong, None) else (0L, Some(sum))
    new LatencySummary(count, lowest, highest, plain, huge, withoutTimestamp, aheadOfClock, encoded)
  }
}
