package org.apache.spark.sql.latency.planning

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.RecordingLevel
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.LatencyMark
import org.apache.spark.sql.latency.recording.LatencyAccumulator

/**
 * Makes the accumulators of the marks in the plan that `session` is about to run in this thread. Each is registered with
 * Spark, and known to the application as waiting for a commit. Costs a few look-ups for each mark of a plan. Only the
 * planning thread may use it.
 */
private[latency] final class MarkAccumulators(session: SparkSession, application: MarkedApplication) {
  import MarkAccumulators._

  /** A registered accumulator for a node. */
  def make(
      node: String,
      measure: Measure = Measure.E2ELatency,
      intake: Int = 0,
      watermark: Option[Long] = None
  ): LatencyAccumulator = {
    val owner = ownerOf(node).copy(measure = measure)
    val hasCommits = CurrentQuery.hasCommits(session)
    val made = new LatencyAccumulator(
      owner,
      intake,
      publishMs = if (hasCommits) LatencyConf(session).publishAfter else LatencyRecorder.PublishMs,
      watermark,
      application.taskFigures,
      // In real-time and continuous mode a task waits for its source between two rows.
      readEveryRow = !hasCommits
    )
    made.register(session.sparkContext)
    application.planned(made)
    made
  }

  /** The name under which the query is shown. */
  def queryName: String = ownerOf("").key.query

  /** The level of the query's automatic nodes: its own, else that of all. */
  def level: RecordingLevel = ownLevel.getOrElse(LatencyConf(session).recordingLevel)

  /** Whether the query records the node: by the query's own level, else by the level when the mark was made. */
  def isRecorded(mark: LatencyMark): Boolean =
    ownLevel.fold(mark.isRecorded)(_.records(mark.level))

  /** That of the name under which the query is shown, else of its own: it is shown by its id where another has the same. */
  private def ownLevel: Option[RecordingLevel] = {
    val settings = LatencyConf(session)
    val own = CurrentQuery.running(session).flatMap(query => Option(query.name)).filter(_ != BatchQueries)
    settings.levelOf(queryName).orElse(own.flatMap(settings.levelOf))
  }

  /** What a thread runs that outlives the query which began it is a batch query. */
  private def ownerOf(node: String): MarkOwner = CurrentQuery.running(session) match {
    case None => MarkOwner(NodeKey(BatchQueries, node), None, None)
    case Some(query) =>
      val key = NodeKey(application.nameOf(query), node)
      MarkOwner(key, Some(query.id.toString), Some(query.runId.toString))
  }
}

/** Holds the name of all that is no streaming query. */
private[latency] object MarkAccumulators {

  /** The name under which executions outside a streaming query are shown. */
  val BatchQueries = "__batch__"
}
