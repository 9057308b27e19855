package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.IntegerLiteral
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.catalyst.plans.logical.Limit
import org.apache.spark.sql.catalyst.plans.logical.LimitAndOffset
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.OffsetAndLimit
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer
import org.apache.spark.sql.catalyst.plans.logical.Sort
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.execution.TakeOrderedAndProjectExec
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.latency.marking.IngestionStamp
import org.apache.spark.sql.latency.marking.KeptTimestamps
import org.apache.spark.sql.latency.marking.LatencyMark

/**
 * Plans a limit over a global sort as Spark does, where nodes of ours are between the two. Spark would not see the sort through them:
 * it would take so many rows of each partition, and of these the first that a shuffle happens to bring. No shuffle keeps an order, so
 * other rows would come out. What passes each row on stands above the limit then: a mark sees the rows that the limit takes.
 *
 * A filter takes rows out, so the limit stays above it, and so does the sort below. Spark would have moved it below the sort, but not
 * past a mark.
 *
 * Physical operators are made here at once: each must be of a logical one that an adaptive plan has, and all these are of the limit.
 *
 * Runs in the planning thread, for every plan of the session. Costs a look at each operator, and at a limit one walk down to its sort.
 */
private[latency] final case class FirstRowsStrategy(marks: LatencyMarkStrategy) extends SparkStrategy {
  import FirstRowsStrategy._

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ReturnAnswer(root) => limited(root).toSeq
    case other => limited(other).toSeq
  }

  private def limited(plan: LogicalPlan): Option[SparkPlan] = plan match {
    case LimitAndOffset(limit, offset, rows) => first(limit, offset, rows)
    case OffsetAndLimit(offset, limit, rows) => first(offset + limit, offset, rows)
    case Limit(IntegerLiteral(limit), rows) => first(limit, offset = 0, rows)
    case _ => None
  }

  /** @param limit of which `offset` rows are left out again */
  private def first(limit: Int, offset: Int, rows: LogicalPlan): Option[SparkPlan] =
    if (limit >= SQLConf.get.topKSortFallbackThreshold) None // Spark does not either
    else stepsToSort(rows).filter { case (steps, _) => steps.exists(isOurs) }.map { case (steps, sort) =>
      val (passing, filtering) = steps.span(!_.isInstanceOf[Filter])
      val taken = filtering.headOption.fold(
        TakeOrderedAndProjectExec(limit, sort.order, sort.child.output, planLater(sort.child), offset)
      ) { filter =>
        val sorted = over(filtering, planLater(sort), kept = AttributeSet(sort.order.flatMap(_.references)))
        TakeOrderedAndProjectExec(limit, sort.order, filter.output, sorted, offset)
      }
      over(passing, taken, kept = AttributeSet.empty)
    }

  /** @param kept columns that stay, also where a projection drops them */
  private def over(steps: Seq[UnaryNode], rows: SparkPlan, kept: AttributeSet): SparkPlan =
    steps.foldRight(rows) {
      case (mark: LatencyMark, below) => marks.over(mark, below)
      case (stamp: IngestionStamp, below) => IngestionStampStrategy.over(stamp, below)
      case (Project(columns, _), below) =>
        ProjectExec(columns ++ (kept -- columns.map(_.toAttribute)).toSeq, below)
      case (Filter(condition, _), below) => FilterExec(condition, below)
      case (_, below) => below
    }
}

private[latency] object FirstRowsStrategy {

  /** What keeps the order of the rows, from the top down to the sort. */
  private def stepsToSort(plan: LogicalPlan): Option[(List[UnaryNode], Sort)] = plan match {
    case sort: Sort if sort.global => Some(Nil -> sort)
    case step @ (_: LatencyMark | _: IngestionStamp | _: KeptTimestamps | _: Project | _: Filter) =>
      val unary = step.asInstanceOf[UnaryNode]
      stepsToSort(unary.child).map { case (below, sort) => (unary :: below, sort) }
    case _ => None
  }

  private def isOurs(step: UnaryNode): Boolean = step match {
    case _: Project | _: Filter => false
    case _ => true
  }
}
