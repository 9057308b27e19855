package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import io.sparklatency.recording.RecordingLevel
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.latency.compat.SparkSession

/**
 * Puts a mark on top of a plan. A user's mistake fails here, at the call, with an IllegalArgumentException. Runs in the user's
 * thread, or in the thread that analyzes a hint. Costs one analysis of the marked Dataset; records cost nothing yet.
 */
private[latency] object Marking {

  /**
   * `child` with the mark on top, or `child` itself if every level that is set excludes the node.
   *
   * @param id of the mark. Each call makes another; a hint is read anew wherever its text stands
   */
  def mark(
      session: SparkSession,
      child: LogicalPlan,
      node: String,
      timestamp: RecordTimestampResolution => Expression,
      level: String,
      id: LatencyMark => MarkId = _ => MarkId.ofCall
  ): LogicalPlan = {
    NodeIds.check(node, child)
    val resolved = timestamp(new RecordTimestampResolution(session, child, node))
    val nodeLevel = levelOf(node, level)
    val settings = LatencyConf(session)
    val levels = settings.levelsOfQueries // read in any case: a bad one fails here
    val isRecorded = settings.recordingLevel.records(nodeLevel)
    if (isRecorded || levels.exists(_.records(nodeLevel)) || settings.forceTimestampSupport) {
      val mark = LatencyMark(node, resolved, markId = None, nodeLevel, isRecorded, child)
      mark.copy(markId = Some(id(mark)))
    } else child
  }

  private def levelOf(node: String, level: String): RecordingLevel =
    RecordingLevel.ofNodes.find(_.name.equalsIgnoreCase(level)).getOrElse(throw new IllegalArgumentException(
      s"node '$node': there is no recording level '${Readable.name(level)}'; use one of ${RecordingLevel.ofNodes.mkString(", ")}"
    ))
}
