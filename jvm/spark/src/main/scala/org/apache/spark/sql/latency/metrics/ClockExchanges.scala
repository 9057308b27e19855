package org.apache.spark.sql.latency.metrics

import java.util.concurrent.TimeUnit

import io.sparklatency.spark.base.OurFailure
import io.sparklatency.time.ClockExchange
import io.sparklatency.time.PreciseTime
import io.sparklatency.time.SystemTime
import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.recording.ClockQuestion
import org.apache.spark.util.ThreadUtils

/**
 * Compares this executor's clock with the driver's: a few times at once when it starts, then at each interval. If asking fails,
 * the driver is going or busy: the next time asks again, and the log says so once.
 *
 * One daemon thread for an executor. Costs the driver a message of some eighty bytes.
 *
 * @param ask hands a question to the driver and waits for its answer
 */
final class ClockExchanges(executor: String, everyMs: Long, time: PreciseTime)(ask: AnyRef => AnyRef)
    extends Logging {
  import ClockExchanges._

  private val thread = ThreadUtils.newDaemonSingleThreadScheduledExecutor("sparklatency-clock")
  private var before: Option[ClockExchange] = None
  private var isFirst = true
  private var hasFailed = false

  thread.scheduleWithFixedDelay(() => exchange(), 0, everyMs, TimeUnit.MILLISECONDS)

  def stop(): Unit = { thread.shutdownNow(); () }

  private def exchange(): Unit =
    try {
      (1 to (if (isFirst) AtOnce else 1)).foreach(_ => askOnce())
      isFirst = before.isEmpty // the driver's side may not be there yet
    } catch {
      case OurFailure(e) =>
        before = None
        if (!hasFailed) logWarning("This executor's clock is not compared with the driver's.", e)
        hasFailed = true
    }

  private def askOnce(): Unit = {
    val question = ClockQuestion(executor, time.micros(), time.steadyMicros(), before)
    val answer = ask(question.message)
    before = question.exchange(answer, time.micros())
  }
}

object ClockExchanges {

  /** The first exchanges make the classes and connections that the others use. */
  private val AtOnce = 8

  /**
   * Begins to compare. Not in local mode, where there is one clock.
   *
   * @param everyMs none for never
   */
  def of(executor: String, everyMs: Option[Long])(ask: AnyRef => AnyRef): Option[ClockExchanges] =
    everyMs.filter(_ => executor != SparkContext.DRIVER_IDENTIFIER).map(new ClockExchanges(
      executor,
      _,
      SystemTime
    )(ask))
}
