package org.apache.spark.sql.latency.metrics

import java.util.concurrent.TimeUnit

import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.util.ThreadUtils

/**
 * Asks the driver again and again, in a daemon thread of its own. If asking fails, the driver is going or busy: the next time asks
 * again, and the log says so once.
 *
 * @param failure what the log says
 */
private[latency] final class DriverQuestions(thread: String, firstMs: Long, periodMs: Long, failure: String)(
    ask: () => Unit
) extends Logging {
  private val executor = ThreadUtils.newDaemonSingleThreadScheduledExecutor(thread)
  private var hasFailed = false

  executor.scheduleWithFixedDelay(() => askOrLog(), firstMs, periodMs, TimeUnit.MILLISECONDS)

  def stop(): Unit = { executor.shutdownNow(); () }

  private def askOrLog(): Unit =
    try ask()
    catch {
      case OurFailure(e) =>
        if (!hasFailed) logWarning(failure, e)
        hasFailed = true
    }
}
