package org.apache.spark.sql.latency.planning

import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.plans.logical.DeserializeToObject
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.IngestionTime
import org.apache.spark.sql.latency.marking.KeptTimestamps

/**
 * With `spark.sparklatency.forceTimestampSupport` ingestion timestamps stay in the plan up to the step that drops them, though nothing
 * reads them: a reader there stands between them and column pruning.
 *
 * Runs in the thread that analyzes, for every plan of the session. A plan without an ingestion timestamp costs one walk at most.
 */
private[latency] final case class KeepTimestamps(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (isStamped(plan) && LatencyConf(session).forceTimestampSupport) plan.resolveOperatorsUp {
      case step if step.resolved => keeping(step)
    }
    else plan

  private def isStamped(plan: LogicalPlan): Boolean =
    !plan.deterministic && plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[IngestionTime])))

  private def keeping(step: LogicalPlan): LogicalPlan = step match {
    case _: Project | _: Aggregate | _: DeserializeToObject | Join(_, _, LeftExistence(_), _, _) =>
      step.withNewChildren(step.children.map(keeping(_, step.references ++ step.outputSet)))
    case function =>
      val inputs = FunctionInput.of(function)
      if (inputs.isEmpty) function
      else function.mapChildren(child =>
        inputs.find(_.rows eq child).fold(child)(input => keeping(child, input.read))
      )
  }

  private def keeping(child: LogicalPlan, read: AttributeSet): LogicalPlan = child match {
    case kept: KeptTimestamps => kept
    case _ =>
      val unread = StampColumns.of(child).filterNot(read.contains).toSeq
      if (unread.isEmpty) child else KeptTimestamps(unread, child)
  }
}
