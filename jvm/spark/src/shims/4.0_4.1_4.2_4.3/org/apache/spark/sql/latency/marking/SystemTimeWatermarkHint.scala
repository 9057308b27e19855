package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Finds the hint `SYSTEM_TIME_WATERMARK` before Spark resolves anything, and has what lies above wait for the watermark. A hint
 * that nobody knows yet counts as resolved: an aggregation above it would take the column as it was without a watermark. A
 * wrong hint fails the analysis, in words. Runs in the thread that analyzes the statement, on the server under Spark Connect.
 * Without state; a plan without the hint costs one walk.
 */
private[latency] case object SystemTimeWatermarkHint extends Rule[LogicalPlan] {
  private val Name = "SYSTEM_TIME_WATERMARK"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) =>
      parameters match {
        case Seq(HintText(column), HintText(lag)) => UnresolvedSystemTimeWatermark(column, lag, child)
        case other => throw new IllegalArgumentException(
            s"$Name(${HintText.shown(other)}): the name of a column and a lag are expected; " +
              s"use $Name('event_time', '10 seconds')"
          )
      }
  }
}

/** A system-time watermark on a column that is to be found when the plan below is resolved. Immutable. */
private[marking] case class UnresolvedSystemTimeWatermark(column: String, lag: String, child: LogicalPlan)
    extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedSystemTimeWatermark =
    copy(child = newChild)
}

/**
 * Turns what the hint has left into a watermark. A mistake fails the analysis, in words. Runs where the hint does.
 *
 * @param onUse called when there is one
 */
private[latency] final case class ResolveSystemTimeWatermark(onUse: () => Unit) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case hint @ UnresolvedSystemTimeWatermark(column, lag, child) if child.resolved =>
      onUse()
      val read = WatermarkLag.of(lag)
      val watermarked = SystemTimeWatermark.on(child, WatermarkedColumn.of(child, column, conf), read)
      if (watermarked eq child) GoneHint.over(child, hint) else watermarked
  }
}
