package org.apache.spark.sql.latency.marking

import io.sparklatency.recording.RecordingLevel
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/**
 * A marked point of a plan. Rows pass unchanged, and the latency of each is measured. No optimizer rule knows this node, so
 * nothing moves across it; only the planner puts it above the limit of a sort. Work below the mark happens before the clock is read. Work
 * above it happens after.
 *
 * Immutable. Spark's analyzer, optimizer and planner handle it in their thread, and `LatencyMarkStrategy` plans it. A
 * filter above a mark no longer reaches the source; what a record costs, see `RecordE2ELatency`.
 *
 * @param timestamp  deterministic, of TIMESTAMP type. (Spark would move a nondeterministic expression into a Project below.)
 * @param markId     of a call: the same for one mark in two branches of a plan (a self-join), different for two marks with one name
 *                   (a mistake). Of a hint: the text of a view that is read twice, or a plan that a client sends twice, is one mark. None
 *                   where plans are compared
 * @param level      of the node
 * @param isRecorded whether the node is recorded in a query that has no level of its own, as the settings were at the call
 */
case class LatencyMark(
    node: String,
    timestamp: Expression,
    markId: Option[MarkId],
    level: RecordingLevel,
    isRecorded: Boolean,
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def stringArgs: Iterator[Any] = Iterator(node, timestamp)

  override protected def withNewChildInternal(newChild: LogicalPlan): LatencyMark = copy(child = newChild)

  override protected def doCanonicalize(): LogicalPlan =
    super.doCanonicalize().asInstanceOf[LatencyMark].copy(markId = None)
}
