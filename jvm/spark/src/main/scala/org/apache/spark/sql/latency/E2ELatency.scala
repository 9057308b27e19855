package org.apache.spark.sql.latency

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy

/**
 * A marked point of a plan: rows pass unchanged, and the latency of each is taken. No rule of the optimizer knows this node, so
 * nothing moves across it: what the user wrote below the mark is done before the clock is read, what stands above it after.
 *
 * @param timestamp deterministic, of TIMESTAMP type. (A nondeterministic expression would be pulled out into a Project below.)
 * @param markId    tells one mark in two branches of a plan (a self-join) from two marks with the same name (a mistake)
 */
case class E2ELatency(node: String, timestamp: Expression, markId: ExprId, child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def stringArgs: Iterator[Any] = Iterator(node, timestamp)

  override protected def withNewChildInternal(newChild: LogicalPlan): E2ELatency = copy(child = newChild)

  override protected def doCanonicalize(): LogicalPlan =
    super.doCanonicalize().asInstanceOf[E2ELatency].copy(markId = ExprId(0))
}

/**
 * Plans the mark as a stock filter whose condition is always true. A node of our own would be refused by real-time mode, would
 * need code generation of its own, and would hide the child's partitioning and ordering unless it forwarded them.
 */
object E2ELatencyStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case E2ELatency(node, timestamp, _, child) =>
      val figures = Planning.accumulator(SparkSession.active, node)
      val record = RecordE2ELatency(timestamp, child.output, node)(figures)
      FilterExec(OfPartition(record), planLater(child)) :: Nil
    case _ => Nil
  }
}
