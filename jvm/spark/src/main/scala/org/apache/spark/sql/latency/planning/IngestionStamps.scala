package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.And
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.PredicateHelper
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.latency.marking.IngestionStamp
import org.apache.spark.sql.latency.marking.IngestionTime
import org.apache.spark.sql.latency.marking.KeptTimestamps
import org.apache.spark.sql.types.TimestampType

/**
 * Makes one [[IngestionStamp]] of each `ingestion_time()` in a projection, takes it out where nobody reads it, and lets filters that do
 * not read it pass, so that they reach the source. `StampsAtSources` then puts it below what is left of them. Spark's own pruning of
 * columns goes before it, and what that does not know is done here: see [[FunctionInput]].
 *
 * Goes in the optimizer's own batch of rules, with which it takes turns until nothing changes. Runs in the thread that plans the query.
 * A plan without a stamp costs one walk.
 */
private[latency] object IngestionStamps extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case Project(columns, child) if columns.exists(isAsked) =>
      val stamp = stampOf(columns)
      Project(columns.map(reading(_, stamp)), IngestionStamp(stamp, child))
    case Filter(condition, child) if isAsked(condition) =>
      val stamp = stampOf(Nil)
      Project(child.output, Filter(reading(condition, stamp), IngestionStamp(stamp, child)))
    case project @ Project(_, child) if unstamped(child, project.references).nonEmpty =>
      project.withNewChildren(unstamped(child, project.references).toSeq)
    case function if FunctionInput.of(function).exists(unread(_).nonEmpty) => narrowed(function)
    case Filter(condition, kept: KeptTimestamps)
        if condition.deterministic && !(kept.ofMark && hasState(kept.child)) =>
      kept.copy(child = Filter(condition, kept.child))
    case filter @ Filter(condition, stamp: IngestionStamp) =>
      val (passing, staying) = parted(condition, stamp)
      if (passing.isEmpty) filter
      else {
        val below = stamp.copy(child = Filter(passing.reduce(And), stamp.child))
        staying.reduceOption(And).fold[LogicalPlan](below)(Filter(_, below))
      }
  }

  /**
   * Whether a filter that goes further would change what operators keep. Of others with state Spark lets none pass.
   */
  private def hasState(plan: LogicalPlan): Boolean = plan.exists {
    case grouping: Aggregate => grouping.isStreaming
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case _ => false
  }

  private def isAsked(expression: Expression): Boolean = expression.exists(_.isInstanceOf[IngestionTime])

  /** The first column that is a stamp, with the id that it has: then each batch of a query has the same. */
  private def stampOf(columns: Seq[NamedExpression]): Attribute =
    columns.collectFirst { case column @ Alias(_: IngestionTime, _) => column.toAttribute }
      .getOrElse(AttributeReference(IngestionTime.Name, TimestampType, nullable = false)())

  private def reading(column: NamedExpression, stamp: Attribute): NamedExpression =
    if (column.exprId == stamp.exprId) stamp
    else reading(column: Expression, stamp).asInstanceOf[NamedExpression]

  private def reading(expression: Expression, stamp: Attribute): Expression =
    expression.transform { case _: IngestionTime => stamp }

  /** The plan without its stamp, if that is not among the columns that are read. */
  private def unstamped(plan: LogicalPlan, read: AttributeSet): Option[LogicalPlan] = plan match {
    case IngestionStamp(stamp, child) if !read.contains(stamp) => Some(child)
    case filter: Filter =>
      unstamped(filter.child, read ++ filter.references).map(child => filter.copy(child = child))
    case _ => None
  }

  /** The function without a column that it does not read. A second one goes in the next turn. */
  private def narrowed(function: LogicalPlan): LogicalPlan =
    FunctionInput.of(function).find(unread(_).nonEmpty).fold(function) { input =>
      val gone = unread(input)
      input.over(
        input.columns.filterNot(gone.contains),
        Project(input.rows.output.filterNot(gone.contains), input.rows)
      )
    }

  /** The stamps that a function is handed and does not look at. Spark looks for a watermark among them. */
  private def unread(input: FunctionInput): AttributeSet = input.rows match {
    case _: KeptTimestamps => AttributeSet.empty
    case rows => AttributeSet(StampColumns.of(rows).filterNot(column =>
        input.read.contains(column) || column.metadata.contains(EventTimeWatermark.delayKey)
      ))
  }

  /** Which parts of a condition may be asked before the stamp is made. A function in Python is not: it never reaches a source. */
  private def parted(condition: Expression, stamp: IngestionStamp): (Seq[Expression], Seq[Expression]) = {
    val (before, behind) = splitConjunctivePredicates(condition).span(_.deterministic)
    val (passing, staying) = before.partition(part =>
      !part.references.contains(stamp.stamp) && !part.containsPattern(PYTHON_UDF)
    )
    (passing, staying ++ behind)
  }
}
