package org.apache.spark.sql.latency.marking

import scala.util.Try

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.CalendarInterval
import org.apache.spark.unsafe.types.UTF8String

/** How far a system-time watermark stays behind the clock. Immutable; made in the user's thread or by an analyzer. */
private[latency] final case class WatermarkLag(interval: CalendarInterval)

private[latency] object WatermarkLag {

  /** More is a mistake in the unit: no window would be given out for a year. */
  private val LongestMs = 366L * 24 * 60 * 60 * 1000

  /** @throws IllegalArgumentException if `lag` is no interval, is negative, or is longer than a year */
  def of(lag: String): WatermarkLag = {
    val interval =
      if (lag == null) None else Option(IntervalUtils.safeStringToInterval(UTF8String.fromString(lag)))
    interval.fold(fail(lag, "is not an interval")) { read =>
      // Spark's arithmetic overflows where an interval is of millions of days.
      val isNegative = Try(IntervalUtils.isNegative(read)).getOrElse(read.days < 0)
      val ms = Try(EventTimeWatermark.getDelayMs(read)).filter(_ >= 0).getOrElse(Long.MaxValue)
      if (isNegative) fail(lag, "is negative: a watermark cannot be ahead of the clock")
      else if (ms > LongestMs) fail(lag, "is longer than a year: no window would close before")
      else WatermarkLag(read)
    }
  }

  private def fail(lag: String, problem: String): Nothing = throw new IllegalArgumentException(
    s"the lag '${Readable.cut(String.valueOf(lag))}' of a system-time watermark $problem; give one such as '10 seconds'"
  )
}
