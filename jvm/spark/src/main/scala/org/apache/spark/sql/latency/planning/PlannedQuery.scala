package org.apache.spark.sql.latency.planning

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.recording.RecordingLevel
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.LatencyMark

/**
 * The query that `session` is about to run in this thread, by the name under which it is shown. All that is no streaming query is one.
 * Keeps nothing; a call costs a few look-ups. Only the planning thread may use it.
 */
private[latency] final class PlannedQuery(session: SparkSession, application: MarkedApplication) {
  import PlannedQuery._

  def name: String = owner("").key.query

  /** The level of its automatic nodes: its own, else that of all. */
  def level: RecordingLevel = ownLevel.getOrElse(LatencyConf(session).recordingLevel)

  /** Whether it records the node: by its own level, else by the level when the mark was made. */
  def isRecorded(mark: LatencyMark): Boolean =
    ownLevel.fold(mark.isRecorded)(_.records(mark.level))

  /** Whose a mark is with this node. What a thread runs that outlives the query which began it is a batch query. */
  def owner(node: String): MarkOwner = CurrentQuery.running(session) match {
    case None => MarkOwner(NodeKey(BatchQueries, node), None, None)
    case Some(query) =>
      val key = NodeKey(application.nameOf(query), node)
      MarkOwner(key, Some(query.id.toString), Some(query.runId.toString))
  }

  /** That of the name under which it is shown, else of its own: it is shown by its id where another has the same. */
  private def ownLevel: Option[RecordingLevel] = {
    val settings = LatencyConf(session)
    val own = CurrentQuery.running(session).flatMap(query => Option(query.name)).filter(_ != BatchQueries)
    settings.levelOf(name).orElse(own.flatMap(settings.levelOf))
  }
}

/** Holds the name of all that is no streaming query. */
private[latency] object PlannedQuery {

  /** The name under which executions outside a streaming query are shown. */
  val BatchQueries = "__batch__"
}
