package org.apache.spark.sql.latency

import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan

/** A mark in a physical plan, whatever operator it is, and what it reads from. */
private[latency] object Mark {
  def unapply(plan: SparkPlan): Option[(RecordExpression, SparkPlan)] = plan match {
    case RecordExec(mark, child) => Some(mark -> child)
    case FilterExec(mark: RecordExpression, child) => Some(mark -> child)
    case FilterExec(OfPartition(mark: RecordExpression), child) => Some(mark -> child)
    case FilterExec(Uncompiled(mark: RecordExpression), child) => Some(mark -> child)
    case _ => None
  }
}
