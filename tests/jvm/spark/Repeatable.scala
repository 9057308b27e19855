package org.apache.spark.sql.latency

import org.apache.spark.rdd.DeterministicLevel
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/** What Spark takes for the same when it runs again. In its own package for its visibility. */
object Repeatable {

  /** Whether Spark takes for granted that another run of a task makes the same of its partition. */
  def is(rdd: RDD[_]): Boolean = rdd.outputDeterministicLevel != DeterministicLevel.INDETERMINATE

  /** The same of what each shuffle of a plan deals out, from the last shuffle on. */
  def shuffles(plan: SparkPlan): Seq[Boolean] =
    Plans.collect(plan) { case shuffle: ShuffleExchangeExec => is(shuffle.inputRDD) }
}
