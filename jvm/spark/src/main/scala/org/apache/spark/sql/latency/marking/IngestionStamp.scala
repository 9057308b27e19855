package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/**
 * One more column in an optimized plan, which holds the time at which a row is read. Spark's rules do not know it. So none computes it
 * twice, or moves it past work. Column pruning passes it, and `IngestionStamps` lets filters pass.
 *
 * Immutable. Only the optimizer makes it, so no check of Spark's that a query may run sees it.
 */
case class IngestionStamp(stamp: Attribute, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ stamp
  override def producedAttributes: AttributeSet = AttributeSet(stamp)
  override def maxRows: Option[Long] = child.maxRows
  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def withNewChildInternal(newChild: LogicalPlan): IngestionStamp = copy(child = newChild)
}
