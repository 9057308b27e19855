package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange

/**
 * A stage of a plan that is planned adaptively, all but the last: it ends in an exchange. So does a whole plan whose last step is a
 * shuffle. Spark tells them apart by the setting alone, which it switches off for queries that keep state. Without state, for the thread
 * that plans.
 */
private[planning] object AdaptiveStage {
  def is(plan: SparkPlan): Boolean = plan.isInstanceOf[Exchange] && plan.conf.adaptiveExecutionEnabled
}
