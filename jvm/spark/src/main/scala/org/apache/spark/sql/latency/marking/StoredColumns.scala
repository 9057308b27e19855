package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project

/**
 * Columns of the tables that a stream is joined with, by whatever name. One that was written with a watermark has it in its schema for
 * ever: that is none of this query. Without state; costs one walk of the plan.
 */
private[latency] object StoredColumns {

  /** None of a plan that is no stream's. */
  def in(plan: LogicalPlan): AttributeSet = if (plan.isStreaming) beside(plan) else AttributeSet.empty

  private def beside(plan: LogicalPlan): AttributeSet = plan match {
    case table if !table.isStreaming => table.outputSet
    case leaf if leaf.children.isEmpty => AttributeSet.empty
    case step =>
      val below = step.children.map(beside).reduce(_ ++ _)
      step match {
        case Project(columns, _) => below ++ renamedIn(columns, below)
        case aggregate: Aggregate => below ++ renamedIn(aggregate.aggregateExpressions, below)
        case watermark: EventTimeWatermark => below -- Seq(watermark.eventTime)
        case _ => below
      }
  }

  /** What these columns are called behind a step that makes others. Above a union they have the names of its first side. */
  def renamedIn(columns: Seq[NamedExpression], of: AttributeSet): AttributeSet =
    AttributeSet(columns.collect {
      case renamed @ Alias(column: Attribute, _) if of.contains(column) => renamed.toAttribute
    })
}
