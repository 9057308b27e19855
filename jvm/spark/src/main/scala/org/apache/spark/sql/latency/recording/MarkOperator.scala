package org.apache.spark.sql.latency.recording

import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan

/**
 * Recognizes a mark in a physical plan, whichever operator carries it, and gives the mark and the plan below. A pattern
 * without state, for any thread. Costs a type test for each operator.
 */
private[latency] object MarkOperator {
  def unapply(plan: SparkPlan): Option[(RecordExpression, SparkPlan)] = plan match {
    case RecordLatencyExec(mark, child) => Some(mark -> child)
    case FilterExec(mark: RecordExpression, child) => Some(mark -> child)
    case FilterExec(OfPartition(mark: RecordExpression), child) => Some(mark -> child)
    case FilterExec(Uncompiled(mark: RecordExpression), child) => Some(mark -> child)
    case _ => None
  }
}
