package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.latency.compat.plansStatelessAdaptively

/**
 * A stage of a plan that is planned adaptively. All but the last end in an exchange. So does a whole plan whose last step is a
 * shuffle. Spark tells them apart by settings alone: one for all plans, which it switches off for queries that keep state, and one
 * more for streams. Without state, for the thread that plans. Costs a walk over a plan that ends in an exchange.
 */
private[planning] object AdaptiveStage {

  /** Also the last one, where others come before it. Of a plan of one stage that is the whole. */
  def isPartOfPlan(plan: SparkPlan): Boolean = plan.exists(_.isInstanceOf[QueryStageExec]) || is(plan)

  /** One that others follow. */
  def is(plan: SparkPlan): Boolean = plan.isInstanceOf[Exchange] && {
    if (isOfStream(plan)) plansStatelessAdaptively(plan.conf) else plan.conf.adaptiveExecutionEnabled
  }

  private def isOfStream(plan: SparkPlan): Boolean = plan.exists(_.logicalLink.exists(_.isStreaming))
}
