package org.apache.spark.sql.latency.planning

import java.util.UUID

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * A watermark that does not look at rows: they pass as they are, at no cost. Spark takes it for one of its own. What it sees at
 * the end of the batch is the time in `reached`, if there is one, as if a row had had that timestamp.
 *
 * One for each batch; made in the planning thread, its accumulator written there and read by Spark in the same thread.
 *
 * @param systemTimeMs what the clock showed for this batch
 * @param reached      whether Spark learns that time at the end of the batch; not if it knows it already
 */
private[latency] final class SystemTimeWatermarkExec(
    nodeId: UUID,
    eventTime: Attribute,
    delay: CalendarInterval,
    child: SparkPlan
)(val systemTimeMs: Option[Long], val reached: Boolean)
    extends EventTimeWatermarkExec(nodeId, eventTime, delay, child) {

  if (reached) systemTimeMs.foreach(eventTimeStats.add)

  override def nodeName: String = "SystemTimeWatermark"

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(systemTimeMs, Boolean.box(reached))

  override protected def withNewChildInternal(newChild: SparkPlan): EventTimeWatermarkExec =
    new SystemTimeWatermarkExec(nodeId, eventTime, delay, newChild)(systemTimeMs, reached)
}

/** Stands where nothing is read: what Spark's tracker is given between two batches. */
private[planning] case object Nothing extends LeafExecNode {
  override def output: Seq[Attribute] = Nil
  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException("there are no rows")
}
