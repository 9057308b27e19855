package io.sparklatency.time

/**
 * When something is due that happens at most once in each interval, and is to happen soon after an interval begins. Intervals
 * begin at multiples of their length since the epoch, so a second's interval begins with the second, as windows and triggers
 * do.
 *
 * A clock that is set back makes nothing due until it is past the interval where it was. One thread; costs a division a call.
 */
final class Turns(intervalMs: Long) {
  require(intervalMs > 0, s"an interval is positive, not $intervalMs ms")

  private var last = Long.MinValue

  /** Whether `nowMs` is in a later interval than every time before at which this said yes. */
  def isDue(nowMs: Long): Boolean = {
    val interval = Math.floorDiv(nowMs, intervalMs)
    val due = interval > last
    if (due) last = interval
    due
  }
}
