package org.apache.spark.sql.latency.recording

import io.sparklatency.time.ClockCorrection
import io.sparklatency.time.ClockExchange

/**
 * An executor asks the driver for its time, says its own, and brings the exchange before, which only it knows whole. Holds only
 * types of the JDK, as [[PublishedMessage]] does. Immutable.
 *
 * @param sent   when it was asked, by the executor's clock in microseconds
 * @param sentAt the same by its clock that nobody sets
 */
private[latency] final case class ClockQuestion(
    executor: String,
    sent: Long,
    sentAt: Long,
    before: Option[ClockExchange]
) {

  def message: AnyRef = Array[AnyRef](ClockQuestion.Kind, executor, ClockQuestion.timesOf(this))

  /** The exchange that this question began, when an answer has come back. */
  def exchange(answer: AnyRef, returned: Long): Option[ClockExchange] = answer match {
    case Array(received: Long, answered: Long, at: Long, _: Long, _: Long) =>
      Some(ClockExchange(sent, received, answered, returned, at, sentAt))
    case _ => None
  }
}

private[latency] object ClockQuestion {
  private val Kind = "clock"

  /**
   * What the driver gives back: when the question arrived, by its clock and by one that nobody sets, when it answers,
   * and how the executor is to correct its clock.
   */
  def answer(received: Long, answered: Long, at: Long, correction: Option[ClockCorrection]): AnyRef = {
    val known = correction.getOrElse(ClockCorrection(Unknown))
    Array(received, answered, at, known.micros, known.perSecond)
  }

  /** That correction. None where the driver does not know: then the last stands. */
  def correctionIn(answer: AnyRef): Option[ClockCorrection] = answer match {
    case Array(_: Long, _: Long, _: Long, micros: Long, perSecond: Long) if micros != Unknown =>
      Some(ClockCorrection(micros, perSecond))
    case _ => None
  }

  private val Unknown = Long.MinValue

  private def timesOf(question: ClockQuestion): Array[Long] =
    Array(question.sent, question.sentAt) ++ question.before.toArray.flatMap {
      one => Array(one.sent, one.received, one.answered, one.returned, one.at, one.sentAt)
    }

  /** From a message. */
  object Received {
    def unapply(message: AnyRef): Option[ClockQuestion] = message match {
      case Array(Kind, executor: String, Array(sent: Long, sentAt: Long, before @ _*)) =>
        Some(ClockQuestion(executor, sent, sentAt, exchangeOf(before)))
      case _ => None
    }
  }

  private def exchangeOf(times: Seq[Any]): Option[ClockExchange] = times match {
    case Seq(sent: Long, received: Long, answered: Long, returned: Long, at: Long, sentAt: Long) =>
      Some(ClockExchange(sent, received, answered, returned, at, sentAt))
    case _ => None
  }
}
