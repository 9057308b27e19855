package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Turns the hint `SYSTEM_TIME_WATERMARK` into a watermark. A wrong hint fails the analysis, in words. Runs in the thread that
 * analyzes the statement, on the server under Spark Connect. A plan without the hint costs one walk.
 *
 * @param onUse called when there is one
 */
private[latency] final case class SystemTimeWatermarkHint(onUse: () => Unit) extends Rule[LogicalPlan] {
  private val Name = "SYSTEM_TIME_WATERMARK"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) && child.resolved =>
      parameters match {
        case Seq(HintText(column), HintText(lag)) =>
          onUse()
          val read = WatermarkLag.of(lag)
          SystemTimeWatermark.on(child, WatermarkedColumn.of(child, column, conf), read)
        case other => throw new IllegalArgumentException(
            s"$Name(${Readable.cut(other.take(10).map(shown).mkString(", "))}): the name of a column and a lag are expected; " +
              s"use $Name('event_time', '10 seconds')"
          )
      }
  }

  private def shown(parameter: Any): String = parameter match {
    case expression: Expression => expression.sql
    case other => String.valueOf(other)
  }
}
