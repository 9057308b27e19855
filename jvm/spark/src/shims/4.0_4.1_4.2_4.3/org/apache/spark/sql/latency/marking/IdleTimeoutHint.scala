package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Turns the hint `IDLE_TIMEOUT` into a timeout of the watermarks below it. A wrong hint fails the analysis, in words. Runs in the
 * thread that analyzes the statement, on the server under Spark Connect. A plan without the hint costs one walk.
 *
 * @param onUse called when there is one
 */
private[latency] final case class IdleTimeoutHint(onUse: () => Unit) extends Rule[LogicalPlan] {
  private val Name = "IDLE_TIMEOUT"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case hint @ UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) && child.resolved =>
      parameters match {
        case Seq(HintText(timeout)) =>
          onUse()
          GoneHint.over(WatermarkIdleTimeout.on(child, timeout), hint)
        case other => throw new IllegalArgumentException(
            s"$Name(${HintText.shown(other)}): a timeout is expected; use $Name('5 minutes')"
          )
      }
  }
}
