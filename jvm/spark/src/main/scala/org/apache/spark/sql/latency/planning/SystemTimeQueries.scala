package org.apache.spark.sql.latency.planning

import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.latency.compat.MicroBatchExecution
import org.apache.spark.sql.latency.compat.ProcessingTimeExecutor
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.sessionOf
import org.apache.spark.sql.latency.marking.SystemTimeWatermark
import org.apache.spark.sql.streaming.StreamingQueryListener

/**
 * Gets between a query with system-time watermarks and its trigger when it starts. Spark calls this in the query's own thread,
 * before the query does anything, and the query then finds its plan and trigger made.
 *
 * Costs a look at the plan of each query that starts in the session.
 */
private[latency] final class SystemTimeQueries(session: SparkSession) extends StreamingQueryListener
    with Logging {
  import StreamingQueryListener._

  override def onQueryStarted(event: QueryStartedEvent): Unit =
    CurrentQuery.active(session, event.id).collect { case query: MicroBatchExecution =>
      val watermarks = SystemTimeQueries.watermarks(query.analyzedPlan)
      if (watermarks.nonEmpty && (query.queryExecutionThread eq Thread.currentThread))
        try begin(query, watermarks)
        catch {
          case OurFailure(e) =>
            logWarning(s"the system-time watermark of query ${event.id} moves only while records arrive", e)
        }
    }: Unit

  private def begin(query: MicroBatchExecution, watermarks: Seq[EventTimeWatermark]): Unit = {
    val interval = LatencyConf(session).watermarkInterval
    SystemTimeWarnings.of(query).foreach(problem =>
      logWarning(s"query ${CurrentQuery.nameOf(query)}: $problem")
    )
    sessionOf(query).withActive(query.logicalPlan) // makes the trigger
    query.triggerExecutor match {
      case pace: ProcessingTimeExecutor =>
        query.triggerExecutor = new SystemTimeTrigger(pace, query, watermarks, interval)
      case _ =>
    }
  }

  override def onQueryProgress(event: QueryProgressEvent): Unit = ()
  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
}

private[latency] object SystemTimeQueries {

  /** From now on this session's queries find their system-time watermarks moved. */
  def listenIn(session: SparkSession): Unit = synchronized {
    if (!session.streams.listListeners().exists(_.isInstanceOf[SystemTimeQueries]))
      session.streams.addListener(new SystemTimeQueries(session))
  }

  private def watermarks(plan: LogicalPlan): Seq[EventTimeWatermark] = {
    val ids = plan.collect { case SystemTimeWatermark(id, _) => id }.toSet
    plan.collect { case watermark: EventTimeWatermark if ids(watermark.nodeId) => watermark }
  }
}
