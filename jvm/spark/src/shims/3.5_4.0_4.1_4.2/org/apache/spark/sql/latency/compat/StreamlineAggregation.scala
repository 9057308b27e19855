package org.apache.spark.sql.latency.compat

import scala.annotation.unused

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec

/** No aggregation is one: real-time mode aggregates since Spark 4.3. */
object StreamlineAggregation {
  def giving(@unused last: BaseAggregateExec, @unused results: Seq[NamedExpression]): Option[SparkPlan] =
    None
}
