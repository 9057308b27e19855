package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.And
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.PredicateHelper
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Lets filters pass a system-time watermark, so that they reach the source. Of Spark's own watermark those stay behind it that read its
 * column: it goes by the rows that come. This one looks at none.
 *
 * Goes in the optimizer's own batch of rules. Runs in the thread that plans the query. A plan without such a watermark costs one walk.
 */
private[latency] object SystemTimeFilters extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case Filter(condition, lagging @ SystemTimeWatermark(id, watermark: EventTimeWatermark))
        if watermark.nodeId == id && passes(condition) =>
      parted(condition)(passing => lagging.copy(child = below(watermark, passing)))
    // The optimizer has left out columns that nobody reads further on.
    case Filter(
          condition,
          lagging @ SystemTimeWatermark(id, columns @ Project(names, watermark: EventTimeWatermark))
        )
        if watermark.nodeId == id && passes(condition) && names.forall(_.isInstanceOf[Attribute]) =>
      parted(condition)(passing =>
        lagging.copy(child = columns.copy(child = below(watermark, passing)))
      )
  }

  private def passes(condition: Expression) = splitConjunctivePredicates(condition).head.deterministic

  /** What is not deterministic stays, and what comes behind it. */
  private def parted(condition: Expression)(pass: Expression => LogicalPlan): LogicalPlan = {
    val (passing, staying) = splitConjunctivePredicates(condition).span(_.deterministic)
    val below = pass(passing.reduce(And))
    staying.reduceOption(And).fold(below)(Filter(_, below))
  }

  private def below(watermark: EventTimeWatermark, condition: Expression): LogicalPlan =
    watermark.copy(child = Filter(condition, watermark.child))
}
