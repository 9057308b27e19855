package org.apache.spark.sql.latency.marking

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.latency.compat.NoId

/**
 * Says that a watermark below goes by the clock and not by the events. The watermark itself is Spark's own node, so Spark
 * checks, tracks and logs it like any other. No rule of Spark's optimizer knows this node: [[SystemTimeFilters]] lets filters pass, and
 * only projections come between it and the watermark.
 *
 * Immutable. Spark's analyzer, optimizer and planner handle it in their thread. Costs nothing for a record.
 *
 * @param watermark the id of Spark's node
 */
case class SystemTimeWatermark(watermark: UUID, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override def maxRowsPerPartition: Option[Long] = child.maxRowsPerPartition

  override protected def stringArgs: Iterator[Any] = Iterator.empty

  override protected def withNewChildInternal(newChild: LogicalPlan): SystemTimeWatermark =
    copy(child = newChild)

  override protected def doCanonicalize(): LogicalPlan =
    super.doCanonicalize().asInstanceOf[SystemTimeWatermark].copy(watermark = NoId)
}

private[latency] object SystemTimeWatermark {

  /** `child` with a watermark on `column` that trails the clock by `lag`; `child` itself if it is not a stream. */
  def on(child: LogicalPlan, column: WatermarkedColumn, lag: WatermarkLag): LogicalPlan =
    if (!child.isStreaming) child // as withWatermark does
    else {
      val id = UUID.randomUUID()
      SystemTimeWatermark(id, EventTimeWatermark(id, column.attribute, lag.interval, child))
    }
}
