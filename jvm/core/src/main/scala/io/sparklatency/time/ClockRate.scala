package io.sparklatency.time

/**
 * How fast a remote clock parts from ours. Immutable.
 *
 * @param perMicro microseconds that it gains in each of ours
 * @param doubt    how far the truth is from that at the most, if the rate has stayed the same
 */
private[time] final case class ClockRate(perMicro: Double, doubt: Double) {

  /** In nanoseconds. */
  def perSecond: Long = math.round(perMicro * 1e9)

  /** Whether the truth may lie there. */
  def meets(other: ClockRate): Boolean = math.abs(perMicro - other.perMicro) <= doubt + other.doubt
}

private[time] object ClockRate {

  /** Of a clock that nothing is known of. */
  val Unknown: ClockRate = ClockRate(0, ClockEstimate.MaxDriftPpm / 1e6)

  /** In the middle. As long as little is known, as near to none as can be: most clocks hardly drift. */
  def between(least: Double, most: Double): ClockRate = {
    val isKnown = (most - least) / 2 < Unknown.doubt / 4
    val likely = if (isKnown) (least + most) / 2 else math.max(least, math.min(0, most))
    ClockRate(likely, math.max(most - likely, likely - least))
  }
}
