package org.apache.spark.sql.latency

import java.util.UUID

import scala.jdk.CollectionConverters._

import io.sparklatency.LatencyRecorder
import io.sparklatency.Measure
import io.sparklatency.NodeKey
import io.sparklatency.spark.LatencyConf
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.ContinuousTrigger
import org.apache.spark.sql.execution.streaming.RealTimeTrigger
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution

/** What this thread plans: for which query, and the accumulators of its marks. */
private[latency] object Planning {

  /** The name under which executions outside a streaming query are shown. */
  private val BatchQueries = "__batch__"

  /** A registered accumulator for a node of the plan that `session` is about to run in this thread. */
  def accumulator(
      session: SparkSession,
      node: String,
      measure: Measure = Measure.E2ELatency,
      intake: Int = 0,
      watermark: Option[Long] = None
  ): LatencyAccumulator = {
    LatencyTracker.of(session.sparkContext) // so that it is there before the first event
    val whose = owner(session, node).copy(measure = measure)
    val accumulator = new LatencyAccumulator(whose, intake, publishMs(session), watermark)
    accumulator.register(session.sparkContext)
    OpenPlannings.opened(accumulator)
    accumulator
  }

  private def publishMs(session: SparkSession): Long =
    if (hasCommits(session)) LatencyConf(session).publishAfter else LatencyRecorder.PublishMs

  /** Whether what this thread plans or runs commits its results at an end. Otherwise they can be seen at once, and it goes on. */
  def hasCommits(session: SparkSession): Boolean = running(session).map(_.trigger) match {
    case Some(_: RealTimeTrigger | _: ContinuousTrigger) => false
    case _ => true
  }

  /** The streaming query whose batch this thread plans or runs: Spark leaves its id in the thread's local properties. */
  def running(session: SparkSession): Option[StreamExecution] =
    queryId(session).flatMap(id => active(session, UUID.fromString(id)))

  def active(session: SparkSession, query: UUID): Option[StreamExecution] =
    Option(session.sharedState.activeStreamingQueries.get(query))

  /** The name under which that query is shown. */
  def queryName(session: SparkSession): String = owner(session, "").key.query

  private def queryId(session: SparkSession): Option[String] =
    Option(session.sparkContext.getLocalProperty("sql.streaming.queryId"))

  private def owner(session: SparkSession, node: String): MarkOwner = queryId(session) match {
    case None => MarkOwner(NodeKey(BatchQueries, node), None, None)
    case Some(id) =>
      val query = running(session)
      val active = session.sharedState.activeStreamingQueries.values
      val name =
        query.fold(id)(LatencyTracker.of(session.sparkContext).nameOf(
          _,
          run => active.asScala.exists(_.runId == run)
        ))
      MarkOwner(NodeKey(name, node), Some(id), query.map(_.runId.toString))
  }
}
