package org.apache.spark.sql.latency.planning

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.CollectMetricsExec
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.GenerateExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.python.EvalPythonExec
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.UpdateEventTimeColumnExec
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.latency.recording.ReadingTime

/**
 * Finds what changes in the rows of a plan when its tasks run again, and stamp their records again. Through an operator that it does not
 * know all does that stands above a stamp.
 *
 * Remembers what it found at each operator, so it walks a plan once. Not thread-safe: one planning thread uses it.
 */
private final class RestampedRows {
  import RestampedRows._

  private val known = new IdentityHashMap[SparkPlan, Changes]

  def of(plan: SparkPlan): Changes = {
    if (!known.containsKey(plan)) known.put(plan, find(plan).in(plan.output))
    known.get(plan)
  }

  private def find(plan: SparkPlan): Changes = {
    val below = plan.children.map(of).foldLeft(Unchanged)(_ ++ _)
    if (below == Unchanged && !isStamping(plan)) Unchanged
    else plan match {
      case ProjectExec(columns, _) => below.and(columns.filter(below.vary(_)).map(_.toAttribute))
      case MarkOperator(_, _) => below
      case FilterExec(condition, _) => below.copy(rows = below.rows || below.vary(condition))
      case _: EventTimeWatermarkExec | _: UpdateEventTimeColumnExec | _: CollectMetricsExec | _: Exchange =>
        below
      case union: UnionExec => below.and(union.output.zipWithIndex.collect {
          case (column, i) if union.children.exists(side => of(side).vary(side.output(i))) => column
        })
      case aggregate: BaseAggregateExec if !below.vary(aggregate.groupingExpressions) =>
        aggregated(aggregate, below)
      case python: EvalPythonExec => if (below.vary(python.udfs)) below.and(python.resultAttrs) else below
      case generate: GenerateExec if !below.vary(generate.generator) => below
      case sort: SortExec if !below.vary(sort.sortOrder) => below
      case join: BaseJoinExec
          if !below.rows && !below.vary(join.leftKeys ++ join.rightKeys ++ join.condition) =>
        below
      case other => Changes(AttributeSet(other.output), rows = true)
    }
  }

  /** What is made of the columns of groups alone does not change with the rows of a group. */
  private def aggregated(aggregate: BaseAggregateExec, below: Changes): Changes = {
    val keys = AttributeSet(aggregate.groupingExpressions.map(_.toAttribute))
    val groupsChange = below.varyAsRows(aggregate.child.output)
    val made = aggregate.resultExpressions.filter(column =>
      ReadingTime.isIn(column) || groupsChange && !column.references.subsetOf(keys)
    )
    below.and(made.map(_.toAttribute))
  }
}

private object RestampedRows {

  /**
   * @param columns whose values change
   * @param rows    whether it changes, too, which rows there are
   */
  final case class Changes(columns: AttributeSet, rows: Boolean) {
    def vary(expression: Expression): Boolean =
      ReadingTime.isIn(expression) || expression.references.exists(columns.contains)
    def vary(expressions: Iterable[Expression]): Boolean = expressions.exists(vary(_))

    /** Taken together, and as often as they are there. */
    def varyAsRows(row: Seq[Attribute]): Boolean = rows || vary(row)
    def in(row: Seq[Attribute]): Changes = copy(columns = AttributeSet(row.filter(columns.contains)))
    def and(more: Iterable[Expression]): Changes = copy(columns = columns ++ AttributeSet(more))
    def ++(other: Changes): Changes = Changes(columns ++ other.columns, rows || other.rows)
  }

  private val Unchanged = Changes(AttributeSet.empty, rows = false)

  /** Whether records are stamped in this operator itself. */
  def isStamping(plan: SparkPlan): Boolean = plan.expressions.exists(ReadingTime.isIn)
}
