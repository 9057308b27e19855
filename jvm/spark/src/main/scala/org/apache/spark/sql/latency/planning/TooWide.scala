package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.execution.WholeStageCodegenExec

/** Operators that Spark does not compile, because they have too many columns. Without state; a walk over the plan. */
private object TooWide {

  /** Whether one column more has made another one of them. */
  def is[Plan <: QueryPlan[Plan]](wide: Plan, before: Plan): Boolean = operators(wide) > operators(before)

  private def operators[Plan <: QueryPlan[Plan]](plan: Plan): Int =
    plan.collect { case node if WholeStageCodegenExec.isTooManyFields(plan.conf, node.schema) => node }.size
}
