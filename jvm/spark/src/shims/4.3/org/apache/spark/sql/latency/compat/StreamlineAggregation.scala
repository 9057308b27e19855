package org.apache.spark.sql.latency.compat

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.streaming.ProjectAggregationBufferExec

/**
 * An aggregation in real-time mode. Its first piece makes a buffer of each record, the next merges that with the state and keeps it, and
 * the last makes a result of it. Without state, for any thread.
 */
object StreamlineAggregation {

  /** The last piece with these results in place of its own; none of any other, which gives out keys and buffers whatever its results are. */
  def giving(last: BaseAggregateExec, results: Seq[NamedExpression]): Option[SparkPlan] = last match {
    case piece: ProjectAggregationBufferExec if piece.isFinalAggregate =>
      Some(piece.copy(resultExpressions = results))
    case _ => None
  }
}
