package org.apache.spark.sql.latency.planning

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.ObjectConsumerExec
import org.apache.spark.sql.execution.ObjectProducerExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.latency.marking.StepWords
import org.apache.spark.sql.latency.marking.TimestampColumn

/**
 * Which operator of a plan lost the record timestamp on its way to a place, in words. Without state; a walk over the plan below that
 * place, in the thread that plans.
 */
private object LostTimestamp {

  /** None if there was none. */
  def below(node: SparkPlan, timestamps: TimestampLineage): Option[String] = below(node, None, timestamps)

  /** @param reader the nearest aggregation above */
  private def below(
      node: SparkPlan,
      reader: Option[SparkPlan],
      timestamps: TimestampLineage
  ): Option[String] = {
    val inputs = node match {
      case stage: QueryStageExec => Seq(stage.plan)
      case other => other.children
    }
    val next = node match {
      case aggregate: BaseAggregateExec => Some(aggregate)
      case _: ProjectExec => None
      case _ => reader
    }
    inputs.flatMap(timestamps.of(_)).headOption.filterNot(_ => node.isInstanceOf[UnionExec]).map { timestamp =>
      // Nobody wrote a projection that only leaves columns out below an aggregation: the optimizer prunes what that does not read.
      said(if (leavesOut(node)) reader.getOrElse(node) else node, timestamp)
    }.orElse {
      // A union has a timestamp where all of its sides have one. It is one without that lost it, if it ever had one.
      val without = inputs.iterator.filter(timestamps.of(_).isEmpty)
      without.flatMap(below(_, next, timestamps)).nextOption()
    }
  }

  private def leavesOut(node: SparkPlan): Boolean = node match {
    case ProjectExec(columns, _) => columns.forall(_.isInstanceOf[Attribute])
    case _ => false
  }

  private def said(step: SparkPlan, timestamp: Expression): String = {
    val column = s"'${Readable.name(TimestampColumn.nameOf(timestamp))}'"
    step match {
      case ProjectExec(columns, _) => s"${StepWords.projection(columns)} drops $column: keep it there"
      case aggregate: BaseAggregateExec =>
        s"${StepWords.aggregation(aggregate.groupingExpressions)} drops $column: keep its max there"
      case join: BaseJoinExec => s"${StepWords.join(join.joinType)} drops $column: keep it there"
      case _: ObjectConsumerExec | _: ObjectProducerExec | UserFunction(_) =>
        s"${StepWords.Function} drops $column: let it give out one of this name and type"
      case other => s"${StepWords.other(other.nodeName)} drops $column: keep it there"
    }
  }
}
