package io.sparklatency

import java.nio.ByteBuffer
import java.util.Arrays

import org.HdrHistogram.Histogram

/**
 * What is known of a number of records: immutable, mergeable, serializable, a few hundred bytes. Latencies in milliseconds.
 *
 * `count`, `min`, `max` and `sum` are exact and keep their sign: a timestamp ahead of the clock gives a negative latency. The
 * histogram, from which percentiles come, takes such a record as 0. Without a measured record there is no minimum, maximum,
 * average or percentile: those are `None`, never 0.
 *
 * @param count            records that were measured
 * @param withoutTimestamp records that were not, for their timestamp was null or before the epoch
 * @param aheadOfClock     measured records whose timestamp lay in the future
 */
final class LatencySummary private (
    val count: Long,
    private val lowest: Long,
    private val highest: Long,
    private val plainSum: Long,
    private val hugeSum: Option[BigInt],
    val withoutTimestamp: Long,
    val aheadOfClock: Long,
    private val encoded: Array[Byte]
) extends Serializable {
  import LatencySummary._

  def sum: BigInt = hugeSum.getOrElse(BigInt(plainSum))
  def records: Long = count + withoutTimestamp
  def isEmpty: Boolean = records == 0

  def min: Option[Long] = measured(lowest)
  def max: Option[Long] = measured(highest)
  def avg: Option[Double] = measured((BigDecimal(sum) / BigDecimal(count)).toDouble)

  /** How far the timestamp furthest ahead of the clock was ahead of it. */
  def maxLead: Option[Long] = if (aheadOfClock > 0) Some(-lowest) else None

  /** The latency that `percent` of the records do not exceed, at most 1 % too high, within `min` and `max`. */
  def percentile(percent: Double): Option[Long] = percentiles(Seq(percent)).head

  /** Several percentiles for the price of reading the histogram once. */
  def percentiles(percents: Seq[Double]): Seq[Option[Long]] =
    if (count == 0) percents.map(_ => None)
    else {
      val histogram = new Histogram(Digits)
      val cursor = new BucketCounts.Cursor(encoded)
      while (cursor.next())
        histogram.recordValueWithCount(LatencyRecorder.lowestOf(cursor.bucket), cursor.count)
      percents.map(p => Some(histogram.getValueAtPercentile(p).min(highest).max(lowest)))
    }

  /** For [[LatencySummary.fromBytes]] of the same release. */
  def toBytes: Array[Byte] = {
    val total = sum.toByteArray
    ByteBuffer.allocate(5 * 8 + 4 + total.length + encoded.length)
      .putLong(count).putLong(lowest).putLong(highest).putLong(withoutTimestamp).putLong(aheadOfClock)
      .putInt(total.length).put(total).put(encoded).array
  }

  def +(other: LatencySummary): LatencySummary = merge(Seq(this, other))

  private def measured[A](value: => A): Option[A] = if (count == 0) None else Some(value)
}

object LatencySummary {
  private val Digits = 2

  val empty: LatencySummary =
    LatencySummary(0, Long.MaxValue, Long.MinValue, BigInt(0), 0, 0, Array.emptyByteArray)

  def fromBytes(bytes: Array[Byte]): LatencySummary = {
    val buffer = ByteBuffer.wrap(bytes)
    val (count, lowest, highest) = (buffer.getLong(), buffer.getLong(), buffer.getLong())
    val (withoutTimestamp, aheadOfClock) = (buffer.getLong(), buffer.getLong())
    val total = new Array[Byte](buffer.getInt())
    buffer.get(total)
    val encoded = new Array[Byte](buffer.remaining)
    buffer.get(encoded)
    LatencySummary(count, lowest, highest, BigInt(total), withoutTimestamp, aheadOfClock, encoded)
  }

  /** The summary of all the records of all of `parts`, whatever their order. */
  def merge(parts: Iterable[LatencySummary]): LatencySummary = parts.filterNot(_.isEmpty).toSeq match {
    case Seq() => empty
    case Seq(one) => one
    case many =>
      LatencySummary(
        many.foldLeft(Array.emptyLongArray)((counts, part) => BucketCounts.add(part.encoded, counts)),
        many.map(_.lowest).min,
        many.map(_.highest).max,
        many.map(_.sum).sum,
        many.map(_.withoutTimestamp).sum,
        many.map(_.aheadOfClock).sum
      )
  }

  private[sparklatency] def apply(
      buckets: Array[Long],
      min: Long,
      max: Long,
      sum: BigInt,
      withoutTimestamp: Long,
      aheadOfClock: Long
  ): LatencySummary =
    LatencySummary(
      Arrays.stream(buckets).sum(),
      min,
      max,
      sum,
      withoutTimestamp,
      aheadOfClock,
      BucketCounts.encode(buckets)
    )

  /** A driver keeps many of these, and hardly ever a sum that a Long does not hold. */
  private def apply(
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
