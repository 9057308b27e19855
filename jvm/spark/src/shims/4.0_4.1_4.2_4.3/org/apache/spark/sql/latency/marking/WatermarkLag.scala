package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.IntervalText
import org.apache.spark.unsafe.types.CalendarInterval

/** How far a system-time watermark stays behind the clock. Immutable; made in the user's thread or by an analyzer. */
private[latency] final case class WatermarkLag(interval: CalendarInterval)

private[latency] object WatermarkLag {

  /** @throws IllegalArgumentException if `lag` is no interval, is negative, or is longer than a year */
  def of(lag: String): WatermarkLag = IntervalText.read(lag).fold(fail(lag, "is not an interval")) { read =>
    if (IntervalText.isNegative(read)) fail(lag, "is negative: a watermark cannot be ahead of the clock")
    else if (!IntervalText.millis(read).exists(ms => 0 <= ms && ms <= IntervalText.LongestMs))
      fail(lag, "is longer than a year: no window would close before")
    else WatermarkLag(read)
  }

  private def fail(lag: String, problem: String): Nothing = throw new IllegalArgumentException(
    s"the lag '${Readable.cut(String.valueOf(lag))}' of a system-time watermark $problem; give one such as '10 seconds'"
  )
}
