package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.aggregate.HashAggregateExec
import org.apache.spark.sql.execution.aggregate.ObjectHashAggregateExec
import org.apache.spark.sql.execution.aggregate.SortAggregateExec
import org.apache.spark.sql.latency.compat.StreamlineAggregation

/**
 * The record timestamp of an aggregation's groups, where it does not come out. Spark's optimizer folds a projection above an aggregation
 * into its last piece: of a window that is only made a text there, nothing but the text comes out. That piece has the groups and what was
 * computed of each, and can give out one more of these. What it reads, and the state below it, stay as they are.
 *
 * Without state of its own; a look at one operator, in the thread that plans.
 */
private object GroupTimestamp {

  /** The timestamp, and the same aggregation with its columns beside all others; none where no group has one. */
  def of(plan: SparkPlan, timestamps: TimestampLineage): Option[(Expression, SparkPlan)] = plan match {
    case last: BaseAggregateExec =>
      val groups = giving(last, last.groupingExpressions.map(_.toAttribute) ++ last.aggregateAttributes)
      timestamps.of(groups).map(timestamp => timestamp -> giving(last, timestamp.references.toSeq))
    case _ => None
  }

  private def giving(aggregation: BaseAggregateExec, more: Seq[Attribute]): SparkPlan = {
    val results = aggregation.resultExpressions ++ more
    aggregation match {
      case hash: HashAggregateExec => hash.copy(resultExpressions = results)
      case objects: ObjectHashAggregateExec => objects.copy(resultExpressions = results)
      case sorted: SortAggregateExec => sorted.copy(resultExpressions = results)
      case other => StreamlineAggregation.giving(other, results).getOrElse(other)
    }
  }
}
