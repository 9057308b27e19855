package org.apache.spark.sql.latency.metrics

import java.util.concurrent.TimeUnit

import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.util.ThreadUtils

/**
 * Takes the figures of runs that have ended from an executor. Spark tells an executor nothing of that, so it asks the driver,
 * through the plugin, every [[EndedRuns.PeriodMs]] and only while it shows a run. If asking fails, the driver is going or
 * busy: the next call asks again, and the log says so once.
 *
 * One daemon thread for an executor. Costs the driver a message of a few ids.
 *
 * @param ask gives back those of these runs that have ended
 */
private[latency] final class EndedRuns(ask: Array[String] => Array[String]) extends Logging {
  private val thread = ThreadUtils.newDaemonSingleThreadScheduledExecutor("sparklatency-ended-runs")
  private var hasFailed = false

  thread.scheduleWithFixedDelay(
    () => forgetEnded(),
    EndedRuns.PeriodMs,
    EndedRuns.PeriodMs,
    TimeUnit.MILLISECONDS
  )

  def stop(): Unit = { thread.shutdownNow(); () }

  private def forgetEnded(): Unit =
    try {
      val shown = ExecutorFigures.running
      if (shown.nonEmpty) ask(shown.toArray).foreach(ExecutorFigures.ended)
    } catch {
      case OurFailure(e) =>
        if (!hasFailed) logWarning("The driver does not say which queries have ended: their figures stay.", e)
        hasFailed = true
    }
}

private[latency] object EndedRuns {
  val PeriodMs = 5000L
}
