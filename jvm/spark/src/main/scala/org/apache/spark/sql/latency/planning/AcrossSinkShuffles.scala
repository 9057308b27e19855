package org.apache.spark.sql.latency.planning

import scala.annotation.nowarn

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2

/**
 * Goes on with [[AcrossShuffles]] where a sink itself asks for a shuffle and a sort, as a table with partitions does. Spark puts them into
 * the plan when all rules of extensions have run.
 *
 * Runs in the planning thread, for every plan of the session. Costs one look at each operator, and for a write the same as the rule.
 */
private[latency] final case class AcrossSinkShuffles(rule: AcrossShuffles) extends SparkStrategy {
  // Spark has deprecated it for those who make one, and plans each batch as one.
  @nowarn("cat=deprecation")
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case write: WriteToDataSourceV2 =>
      val wide = rule(write)
      if (wide eq write) Nil else planLater(wide) :: Nil
    case _ => Nil
  }
}
