package org.apache.spark.sql.latency.recording

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan

/** A mark in a physical plan, whichever operator carries it. For any thread. */
private[latency] object MarkOperator {

  /**
   * An operator of our own, because a filter counts its rows for the SQL tab, which takes as long as all that a mark does. Where a
   * task runs as long as the query it is a filter all the same: real-time mode accepts only operators that it knows by name.
   *
   * @param mark       may be wrapped in [[OfPartition]], or where there are no batches in [[OfBranch]]
   * @param isCompiled whether the mark is to be part of a stage of generated code
   * @param hasBatches whether the query runs in batches: not so in real-time and continuous mode
   */
  def apply(mark: Expression, child: SparkPlan, isCompiled: Boolean, hasBatches: Boolean): SparkPlan =
    if (hasBatches) RecordLatencyExec(mark, child, isCompiled)
    else FilterExec(if (isCompiled) mark else Uncompiled(mark), child)

  /** The node of a mark that somebody wrote: such a one is wrapped in [[OfPartition]]. */
  def idByHand(plan: SparkPlan): Option[String] = plan match {
    case RecordLatencyExec(OfPartition(mark: RecordE2ELatency), _, _) => Some(mark.node)
    case FilterExec(OfPartition(mark: RecordE2ELatency), _) => Some(mark.node)
    case _ => None
  }

  /** The mark and the plan below. Costs a type test for each operator. */
  def unapply(plan: SparkPlan): Option[(RecordExpression, SparkPlan)] = plan match {
    case RecordLatencyExec(RecordExpression(mark), child, _) => Some(mark -> child)
    case FilterExec(RecordExpression(mark), child) => Some(mark -> child)
    case _ => None
  }
}
