package io.sparklatency.time

/**
 * How far a remote clock is ahead of ours, in microseconds; negative where it is behind. The truth is at most `bound` away.
 * Immutable.
 */
final case class ClockOffset(micros: Long, bound: Long) {
  def ms: Double = micros / 1000.0
  def boundMs: Double = bound / 1000.0

  /** How far it is off at the least. */
  def certainMs: Double = math.max(0L, math.abs(micros) - bound) / 1000.0
}

object ClockOffset {

  /** Of a clock against itself. */
  val Same: ClockOffset = ClockOffset(0, 0)
}
