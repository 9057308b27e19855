package org.apache.spark.sql.latency.planning

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.latency.compat.RealTimeTrigger
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.marking.SystemTimeWatermark

/**
 * Plans a system-time watermark: Spark's node, whose rows nobody looks at. Runs in the planning thread, for each batch anew.
 * Costs one accumulator for each watermark.
 */
case object SystemTimeWatermarkStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case SystemTimeWatermark(id, child) =>
      val query = CurrentQuery.session.flatMap(CurrentQuery.running)
      query.foreach(refuseRealTime)
      planned(id, child, query) :: Nil
    case _ => Nil
  }

  /** Where the optimizer prunes columns it puts a projection above Spark's node. */
  private def planned(id: UUID, plan: LogicalPlan, query: Option[StreamExecution]): SparkPlan = plan match {
    case EventTimeWatermark(`id`, column, delay, child) =>
      SystemTime.watermark(query, id, column, delay, planLater(child))
    case Project(columns, child) => ProjectExec(columns, planned(id, child, query))
    case other => planLater(other) // then the watermark goes by events: Spark plans its own node
  }

  private def refuseRealTime(query: StreamExecution): Unit = query.trigger match {
    case _: RealTimeTrigger => throw new UnsupportedOperationException(
        "a system-time watermark does not work in real-time mode, where a watermark moves only when a long batch ends; use " +
          "withWatermark, or another trigger"
      )
    case _ =>
  }
}
