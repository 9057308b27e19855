package org.apache.spark.sql.latency.planning

import java.lang.ref.WeakReference
import java.util.UUID

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.streaming.ReadAllAvailable
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl
import org.apache.spark.sql.latency.compat.MicroBatchExecution
import org.apache.spark.sql.latency.compat.ProcessingTimeExecutor
import org.apache.spark.sql.latency.compat.ReadLimits
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.compat.sessionOf
import org.apache.spark.sql.latency.marking.SystemTimeWatermark
import org.apache.spark.sql.latency.marking.WatermarkIdleTimeout
import org.apache.spark.sql.streaming.StreamingQueryListener

/**
 * Gets between a query and its trigger when it starts, if it has system-time watermarks, or several of which some may be idle. Spark
 * calls this in the query's own thread, before the query does anything, and the query then finds its plan and trigger made.
 *
 * Costs a look at the plan of each query that starts in the session. Does not keep the session: Spark keeps each listener as long as the
 * application runs, and a server may have opened and closed thousands of sessions by then.
 */
private[latency] final class SystemTimeQueries(
    session: WeakReference[SparkSession],
    applications: MarkedApplication.Finder
) extends StreamingQueryListener with Logging {
  import StreamingQueryListener._

  override def onQueryStarted(event: QueryStartedEvent): Unit =
    Option(session.get).foreach(begun(_, event))

  private def begun(session: SparkSession, event: QueryStartedEvent): Unit =
    CurrentQuery.active(session, event.id).collect { case query: MicroBatchExecution =>
      if (query.queryExecutionThread eq Thread.currentThread)
        try begin(query, session)
        catch {
          case OurFailure(e) => logWarning(
              s"system-time watermarks of query ${event.id} move only while records arrive, and its sources are never idle",
              e
            )
        }
    }: Unit

  private def begin(query: MicroBatchExecution, session: SparkSession): Unit = {
    val settings = LatencyConf(session)
    val watermarks = SystemTimeQueries.watermarks(query.analyzedPlan)
    if (watermarks.nonEmpty) warn(query, session)
    val timeouts =
      if (CurrentQuery.lastsMs(query.trigger).nonEmpty) Map.empty[UUID, Long] // nobody looks for minutes
      else SystemTimeQueries.idleTimeouts(query.analyzedPlan, watermarks, settings.watermarkIdleTimeout)
    if (watermarks.nonEmpty || timeouts.nonEmpty) {
      sessionOf(query).withActive(query.logicalPlan) // makes the trigger
      val idle = Option.when(timeouts.nonEmpty)(
        new IdleSources(
          SystemTimeQueries.all(query.logicalPlan).filter(of => timeouts.contains(of.nodeId)),
          timeouts,
          SystemTimeQueries.unlimited(query)
        )
      )
      query.triggerExecutor match {
        case pace: ProcessingTimeExecutor =>
          query.triggerExecutor =
            new SystemTimeTrigger(pace, query, watermarks, settings.watermarkInterval, idle)
        case _ =>
      }
    }
  }

  private def warn(query: MicroBatchExecution, session: SparkSession): Unit =
    SystemTimeWarnings.of(query).foreach { problem =>
      logWarning(s"query ${Readable.name(CurrentQuery.nameOf(query))}: $problem")
      try applications.of(session.sparkContext).warned(query.runId.toString, problem)
      catch { case OurFailure(_) => } // the log has it
    }

  override def onQueryProgress(event: QueryProgressEvent): Unit = ()
  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
}

private[latency] object SystemTimeQueries {

  /** From now on this session's queries find their watermarks moved. */
  def listenIn(session: SparkSession, applications: MarkedApplication.Finder): Unit = synchronized {
    if (!session.streams.listListeners().exists(_.isInstanceOf[SystemTimeQueries]))
      session.streams.addListener(new SystemTimeQueries(new WeakReference(session), applications))
  }

  /** Which watermarks of a query were idle when this batch began, and since when. Any thread may ask. */
  def idleSince(query: StreamExecution, batch: Long): Map[UUID, Long] =
    trigger(query).fold(Map.empty[UUID, Long])(_.idleSince(batch))

  /**
   * Whether it is a system-time watermark for which the batch that is planned drops records as late. Spark drops by the watermark of
   * the batch before. Of several kinds it is the one where that stood; of a batch before this run that is not known, and taken for
   * event time. Called in the query's own thread.
   */
  def dropsLate(query: StreamExecution): Boolean = {
    val systemTime = watermarks(query.logicalPlan)
    def isOnly = ordinary(query.logicalPlan, systemTime).isEmpty
    systemTime.nonEmpty && (isOnly || trigger(query).exists(_.heldBefore))
  }

  private def trigger(query: StreamExecution): Option[SystemTimeTrigger] = query match {
    case running: MicroBatchExecution =>
      Some(running.triggerExecutor).collect { case told: SystemTimeTrigger => told }
    case _ => None
  }

  private def watermarks(plan: LogicalPlan): Seq[EventTimeWatermark] = {
    val ids = plan.collect { case SystemTimeWatermark(id, _) => id }.toSet
    all(plan).filter(watermark => ids(watermark.nodeId))
  }

  /** Of the watermarks for which others may wait: one that is alone holds nobody back, and the clock is never idle. */
  private def idleTimeouts(
      plan: LogicalPlan,
      systemTime: Seq[EventTimeWatermark],
      setting: Option[Long]
  ): Map[UUID, Long] =
    if (all(plan).map(_.nodeId).distinct.size < 2) Map.empty
    else ordinary(plan, systemTime).flatMap(watermark =>
      WatermarkIdleTimeout.of(watermark).orElse(setting).map(watermark.nodeId -> _)
    ).toMap

  /** Sources that say so. To Spark all those have no limit that do not know of limits, and may have their own. */
  private def unlimited(query: StreamExecution): Set[SparkDataStream] =
    ReadLimits.of(query).collect { case (source: SupportsAdmissionControl, _: ReadAllAvailable) =>
      source: SparkDataStream
    }.toSet

  private def ordinary(plan: LogicalPlan, systemTime: Seq[EventTimeWatermark]): Seq[EventTimeWatermark] =
    all(plan).filterNot(watermark => systemTime.exists(_.nodeId == watermark.nodeId))

  private def all(plan: LogicalPlan): Seq[EventTimeWatermark] =
    plan.collect { case watermark: EventTimeWatermark => watermark }
}
