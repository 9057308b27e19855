package org.apache.spark.sql.latency

import io.sparklatency.RecordingLevel
import io.sparklatency.spark.LatencyConf
import io.sparklatency.spark.RecordTimestamp
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.{Dataset => AnyDataset}

/** Puts marks into plans. Whatever the user got wrong fails here, at the call, with an IllegalArgumentException. */
object LatencyMarks {
  private val LongestNodeId = 256

  /** Called by the façades: `dataset` with the node on top of it, or `dataset` itself where the level excludes the node. */
  def mark[T](
      dataset: AnyDataset[T],
      node: String,
      timestamp: RecordTimestamp,
      level: String
  ): AnyDataset[T] =
    dataset match {
      case classic: Dataset[T @unchecked] =>
        val session = classic.sparkSession
        LatencyTracker.of(session.sparkContext) // reads the settings of the application: a bad one fails here
        if (!session.experimental.extraStrategies.contains(E2ELatencyStrategy))
          session.experimental.extraStrategies :+= E2ELatencyStrategy
        val child = classic.queryExecution.analyzed
        val marked = mark(session, child, node, _.resolve(timestamp), level)
        if (marked eq child) dataset else Dataset.ofRows(session, marked).as(classic.encoder)
      case _ => throw new IllegalArgumentException(
          s"node '$node': ${dataset.getClass.getName} has no plan to mark here; under Spark Connect use " +
            s"dataset.hint(\"E2E_LATENCY\", \"$node\") on a server whose class path has sparklatency"
        )
    }

  /** The same for a plan that is being analyzed. */
  def mark(
      session: SparkSession,
      child: LogicalPlan,
      node: String,
      timestamp: RecordTimestampResolution => Expression,
      level: String
  ): LogicalPlan = {
    checkNode(node, child)
    val resolved = timestamp(new RecordTimestampResolution(session, child, node))
    val recorded = LatencyConf(session).recordingLevel.records(levelOf(node, level))
    if (recorded) E2ELatency(node, resolved, NamedExpression.newExprId, child) else child
  }

  private def checkNode(node: String, plan: LogicalPlan): Unit = {
    if (node == null || node.trim.isEmpty) throw new IllegalArgumentException("a node id must not be empty")
    if (node == QueryFigures.Other)
      throw new IllegalArgumentException(
        s"the node id '$node' is taken: it stands for nodes that are too many to show"
      )
    if (node.length > LongestNodeId)
      throw new IllegalArgumentException(
        s"the node id '${node.take(32)}…' has ${node.length} characters; at most $LongestNodeId are allowed"
      )
    if (plan.collectWithSubqueries { case mark: E2ELatency if mark.node == node => mark }.nonEmpty)
      throw duplicate(node)
  }

  private def levelOf(node: String, level: String): RecordingLevel =
    RecordingLevel.ofNodes.find(_.name.equalsIgnoreCase(level)).getOrElse(throw new IllegalArgumentException(
      s"node '$node': there is no recording level '$level'; use one of ${RecordingLevel.ofNodes.mkString(", ")}"
    ))

  private[latency] def duplicate(node: String): IllegalArgumentException = new IllegalArgumentException(
    s"node '$node' is in this plan already; every node of a query needs an id of its own"
  )
}
