package io.sparklatency.time

/**
 * How far a remote clock is ahead of ours, in microseconds; negative where it is behind. The truth is at most `bound` away.
 * Immutable.
 */
final case class ClockOffset(micros: Long, bound: Long) {
  def ms: Double = micros / 1000.0
  def boundMs: Double = bound / 1000.0

  /** By how much the remote side corrects its clock, in microseconds: by nothing where it may be right. */
  def correction: Long = if (math.abs(micros) > bound) micros else 0

  /** What is left of it then. */
  def corrected: ClockOffset = ClockOffset(0, if (correction == 0) bound + math.abs(micros) else bound)

  /** How far it is off at the least. */
  def certainMs: Double = math.max(0L, math.abs(micros) - bound) / 1000.0
}

object ClockOffset {

  /** Of a clock against itself. */
  val Same: ClockOffset = ClockOffset(0, 0)
}
