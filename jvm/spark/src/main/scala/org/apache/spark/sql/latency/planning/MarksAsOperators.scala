package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.latency.recording.OfPartition
import org.apache.spark.sql.latency.recording.RecordE2ELatency

/**
 * Makes of a mark by hand the operator that carries it. Until then it is a filter: what Spark decides of a plan as a whole it decides by
 * operators that it knows, as whether a `repartition` is the last step, whose partitions an adaptive plan is to keep.
 *
 * Goes first, for the other rules look at what is there in the end. Runs in the planning thread, for every plan of the session, and never
 * fails one. Costs a walk over the plan. Where it does not run, as in a session that has the jar without its rules, marks stay filters.
 */
private[latency] final case class MarksAsOperators(session: SparkSession) extends HarmlessRule {

  /** If it fails marks stay filters, and measure the same. */
  override protected def applied(plan: SparkPlan): SparkPlan =
    if (CurrentQuery.hasBatches(session)) plan.transformUp {
      case FilterExec(mark @ OfPartition(_: RecordE2ELatency), child) =>
        MarkOperator(mark, child, isCompiled = true, hasBatches = true)
    }
    else plan
}
