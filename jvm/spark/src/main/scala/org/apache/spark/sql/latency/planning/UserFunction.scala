package org.apache.spark.sql.latency.planning

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
  def unapply(plan: SparkPlan): Boolean = plan match {
    case _: SerializeFromObjectExec => true // where objects become rows, whichever function made them
    case _: MapInBatchExec | _: FlatMapGroupsInBatchExec | _: FlatMapCoGroupsInBatchExec => true
    case _: FlatMapGroupsInPandasWithStateExec | _: TransformWithStateInPySparkExec => true
    case _ => false
  }
}
