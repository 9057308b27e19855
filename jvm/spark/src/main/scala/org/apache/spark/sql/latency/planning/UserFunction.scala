package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.AppendColumnsWithObjectExec
import org.apache.spark.sql.execution.SerializeFromObjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.MapInBatchExec
import org.apache.spark.sql.latency.compat.FlatMapCoGroupsInBatchExec
import org.apache.spark.sql.latency.compat.FlatMapGroupsInBatchExec
import org.apache.spark.sql.latency.compat.FlatMapGroupsInPandasWithStateExec
import org.apache.spark.sql.latency.compat.TransformWithStateInPySparkExec

/**
 * An operator whose rows a function of the user's makes: `map`, `mapGroupsWithState`, `transformWithState`, `mapInPandas` and
 * the like. Spark does not know where its columns come from. A pattern without state, for any thread. Costs a type test.
 */
private[latency] object UserFunction {

  /** The columns that the function gives out. */
  def unapply(plan: SparkPlan): Option[Seq[Attribute]] = plan match {
    case _: SerializeFromObjectExec =>
      Some(plan.output) // where objects become rows, whichever function made them
    // Those that another function groups become rows as it makes their keys. The keys are no columns of theirs.
    case rows: AppendColumnsWithObjectExec => Some(rows.inputSerializer.map(_.toAttribute))
    case _: MapInBatchExec | _: FlatMapGroupsInBatchExec | _: FlatMapCoGroupsInBatchExec => Some(plan.output)
    case _: FlatMapGroupsInPandasWithStateExec | _: TransformWithStateInPySparkExec => Some(plan.output)
    case _ => None
  }
}
