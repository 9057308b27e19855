package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode

/**
 * A reader of columns that does nothing: column pruning leaves them in the plan up to here. No operator comes of it. No rule of Spark's
 * knows it; `IngestionStamps` lets filters pass.
 *
 * Immutable. It is only there where `spark.sparklatency.forceTimestampSupport` or `spark.sparklatency.auto.acrossShuffles` is set.
 *
 * @param ofMark whether it stands for a mark that its level leaves out. Then filters pass only where that changes no state
 */
case class KeptTimestamps(timestamps: Seq[Attribute], child: LogicalPlan, ofMark: Boolean = false)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def withNewChildInternal(newChild: LogicalPlan): KeptTimestamps = copy(child = newChild)
}
