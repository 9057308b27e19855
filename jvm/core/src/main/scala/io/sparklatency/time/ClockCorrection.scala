package io.sparklatency.time

/**
 * What an executor takes off its clock, so that it shows the driver's time. Immutable.
 *
 * @param micros    by how much it is ahead
 * @param perSecond how many nanoseconds more that is with each second
 */
final case class ClockCorrection(micros: Long, perSecond: Long = 0) {

  /** By how much it is ahead so many microseconds later. */
  def after(later: Long): Long =
    if (perSecond == 0) micros else micros + math.round(later * (perSecond / 1e9))
}

object ClockCorrection {
  val None: ClockCorrection = ClockCorrection(0)
}
