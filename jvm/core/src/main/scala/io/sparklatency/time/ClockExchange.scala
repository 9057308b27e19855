package io.sparklatency.time

/**
 * A question that an executor asked the driver, and its answer, by both clocks, in microseconds since the epoch. Immutable.
 *
 * @param sent     when the executor asked, by its clock
 * @param received when the question arrived, by the driver's clock
 * @param answered when the driver answered, by its clock
 * @param returned when the answer arrived, by the executor's clock
 * @param at       when the question arrived, by a clock of the driver's that nobody sets
 * @param sentAt   when the executor asked, by a clock of its own that nobody sets
 */
final case class ClockExchange(
    sent: Long,
    received: Long,
    answered: Long,
    returned: Long,
    at: Long,
    sentAt: Long
) {

  /**
   * A message takes no negative time: that bounds the offset from below by the question and from above by the answer, however
   * unlike their ways are. A reading may be a whole microsecond behind the time, and the clocks drift while the messages are
   * on their way. None if a clock was set back meanwhile.
   */
  val interval: Option[ClockInterval] = {
    val slack = ClockEstimate.drift(math.max(0, returned - sent)) + 1
    ClockInterval.of(sent - received - slack, returned - answered + slack)
  }

  /** Whether either clock was set since an earlier exchange: it has gone on by more or less than the one beside it that nobody sets. */
  def isSetSince(earlier: ClockExchange): Boolean = {
    val isExecutors = hasStepped(sent - earlier.sent, sentAt - earlier.sentAt)
    isExecutors || hasStepped(received - earlier.received, at - earlier.at)
  }

  private def hasStepped(micros: Long, steady: Long) =
    math.abs(micros - steady) > ClockEstimate.drift(math.abs(steady)) + ClockExchange.ReadingMicros
}

object ClockExchange {

  /** Two clocks are read one after the other. */
  private val ReadingMicros = 100L
}
