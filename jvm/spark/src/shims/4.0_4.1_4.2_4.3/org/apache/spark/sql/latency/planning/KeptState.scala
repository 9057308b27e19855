package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.latency.compat.TransformWithStateInPySpark
import org.apache.spark.sql.streaming.OutputMode

/** What of a query's plan keeps state, which a watermark could close. Without state; costs a walk over the plan. */
private[planning] object KeptState {
  def in(plan: LogicalPlan): Boolean = plan.exists(keeps)

  /**
   * Whether something in the plan closes or forgets by the watermark. In complete mode an aggregation keeps all that it has, and a
   * limit never forgets.
   */
  def closesIn(plan: LogicalPlan, mode: OutputMode): Boolean = plan.exists {
    case _: Aggregate if mode == OutputMode.Complete() => false
    case _: GlobalLimit => false
    case other => keeps(other)
  }

  private def keeps(operator: LogicalPlan): Boolean = operator match {
    case _: Aggregate | _: Deduplicate | _: DeduplicateWithinWatermark | _: Distinct | _: GlobalLimit =>
      operator.isStreaming
    case _: FlatMapGroupsWithState | _: FlatMapGroupsInPandasWithState => operator.isStreaming
    case _: TransformWithState | _: TransformWithStateInPySpark => operator.isStreaming
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case _ => false
  }
}
