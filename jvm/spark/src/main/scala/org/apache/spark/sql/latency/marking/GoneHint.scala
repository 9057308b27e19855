package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project

/**
 * What stands in the place of a hint of which nothing is left. Under Spark Connect `df["id"]` asks for a column of the plan with the number
 * of `df`, which a hint has that was the last step of `df`. A projection that does nothing takes it over, and the optimizer takes that out.
 * Without state, for the thread that analyzes.
 */
private[marking] object GoneHint {
  def over(child: LogicalPlan, hint: LogicalPlan): LogicalPlan =
    if (hint.getTagValue(LogicalPlan.PLAN_ID_TAG).isEmpty) child else Project(child.output, child)
}
