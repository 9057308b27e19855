package org.apache.spark.sql.latency.metrics

import io.sparklatency.time.ClockCorrection
import io.sparklatency.time.ClockExchange
import io.sparklatency.time.PreciseTime
import io.sparklatency.time.SystemTime
import io.sparklatency.time.WallClock
import org.apache.spark.SparkContext
import org.apache.spark.sql.latency.recording.ClockQuestion

/**
 * Compares this executor's clock with the driver's: several times at once when it starts, then a few times at each
 * interval. See [[DriverQuestions]]. The first of a few finds threads and caches cold, and brings what the last one
 * of those before has found.
 *
 * One daemon thread for an executor. An exchange costs the driver a message of some hundred bytes.
 *
 * @param correct takes by how much this executor's clock is known to be ahead of the driver's
 * @param ask     hands a question to the driver and waits for its answer
 */
final class ClockExchanges(
    executor: String,
    everyMs: Long,
    time: PreciseTime,
    correct: ClockCorrection => Unit
)(ask: AnyRef => AnyRef) {
  import ClockExchanges._

  private var before: Option[ClockExchange] = None
  private var isFirst = true

  // Comes last: it asks at once.
  private val questions = new DriverQuestions(
    "sparklatency-clock",
    firstMs = 0,
    everyMs,
    "This executor's clock is not compared with the driver's."
  )(() => exchange())

  def stop(): Unit = questions.stop()

  private def exchange(): Unit = {
    (1 to (if (isFirst) AtOnce else InARow)).foreach(_ => askOnce())
    isFirst = before.isEmpty // the driver's side may not be there yet
  }

  private def askOnce(): Unit = {
    val now = time.both()
    val question = ClockQuestion(executor, now.micros, now.steadyMicros, before)
    before = None // stays so where asking fails
    val (answer, returned) = (ask(question.message), time.micros())
    before = question.exchange(answer, returned)
    ClockQuestion.correctionIn(answer).foreach(correct)
  }
}

object ClockExchanges {

  /** The first exchanges make the classes and connections that the others use. */
  private val AtOnce = 8

  /** The last of them are the quickest, and so the ones that bound the offset. */
  private val InARow = 3

  /**
   * Begins to compare. Not in local mode, where there is one clock.
   *
   * @param everyMs none for never
   */
  def of(executor: String, everyMs: Option[Long])(ask: AnyRef => AnyRef): Option[ClockExchanges] =
    everyMs.filter(_ => executor != SparkContext.DRIVER_IDENTIFIER).map(new ClockExchanges(
      executor,
      _,
      SystemTime,
      WallClock.correctBy
    )(ask))
}
