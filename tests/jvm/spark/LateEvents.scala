package org.apache.spark.sql.latency

import java.time.Instant

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryProgressEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/**
 * Has events reach the figures so much later than they happened, as on a machine with much other work. A test that does not wait for
 * what it reads fails then.
 */
private final class LateEvents(ms: Long) extends SparkListener {
  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case of: SparkListenerSQLExecutionEnd => until(of.time + ms)
    case of: QueryProgressEvent =>
      val tookMs = Option(of.progress.durationMs.get("triggerExecution")).fold(0L)(_.toLong)
      until(Instant.parse(of.progress.timestamp).toEpochMilli + tookMs + ms)
    case _: QueryTerminatedEvent => Thread.sleep(ms)
    case _ =>
  }

  /** Slow alone it would be outrun by a query that always has data. */
  private def until(atMs: Long): Unit = Thread.sleep((atMs - System.currentTimeMillis).max(0))
}

object LateEvents {

  /** Before there is an application of ours, so that in its queue this listener is the first. */
  def in(context: SparkContext, ms: Long): Unit =
    context.listenerBus.addToQueue(new LateEvents(ms), LatencyApplication.Queue)
}
