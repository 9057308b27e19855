package org.apache.spark.sql.latency.metrics

import java.util.concurrent.TimeUnit

import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.util.ThreadUtils

/**
 * Takes the figures of runs that have ended from an executor. Spark tells an executor nothing of that, so it asks the driver,
 * through the plugin, once in a while and only while it shows a run. If asking fails, the driver is going or
 * busy: the next call asks again, and the log says so once.
 *
 * One daemon thread for an executor. Costs the driver a message of a few ids.
 *
 * @param shown the runs that the executor shows
 * @param ask   gives back those of these runs that have ended
 * @param ended takes the figures of a run away
 */
private[latency] final class EndedRuns(
    shown: () => Seq[String],
    ask: Array[String] => Array[String],
    ended: String => Unit,
    periodMs: Long = EndedRuns.PeriodMs
) extends Logging {
  private val thread = ThreadUtils.newDaemonSingleThreadScheduledExecutor("sparklatency-ended-runs")
  private var hasFailed = false

  thread.scheduleWithFixedDelay(
    () => forgetEnded(),
    periodMs,
    periodMs,
    TimeUnit.MILLISECONDS
  )

  def stop(): Unit = { thread.shutdownNow(); () }

  private def forgetEnded(): Unit =
    try {
      val runs = shown()
      if (runs.nonEmpty) ask(runs.toArray).foreach(ended)
    } catch {
      case OurFailure(e) =>
        if (!hasFailed) logWarning("The driver does not say which queries have ended: their figures stay.", e)
        hasFailed = true
    }
}

private[latency] object EndedRuns {
  val PeriodMs = 5000L
}
