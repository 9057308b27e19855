package org.apache.spark.sql.latency.planning

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnaryExecNode
import org.apache.spark.sql.execution.python.ArrowEvalPythonExec
import org.apache.spark.sql.execution.python.BatchEvalPythonExec
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.recording.MarkOperator

/**
 * Carries a record timestamp to where a query would have dropped it: as one more column of the projections on the way. Only through
 * operators that pass on what they are given, in one stage: no shuffle, no state, and nothing that the optimizer would have planned
 * otherwise.
 *
 * Without state; a walk over the end of a plan, in the thread that plans.
 */
private object CarriedTimestamp {

  /** The timestamp nearest below `node` that can be carried to it. */
  @tailrec
  def below(node: SparkPlan, timestamps: TimestampLineage): Option[Expression] = timestamps.of(node) match {
    case None if passesOn(node) => below(node.children.head, timestamps)
    case found => found.filter(_.references.size == 1)
  }

  /** The same plan with the timestamp's column in its output, beside all others; none where it does not come so far. */
  def to(plan: SparkPlan, timestamp: Expression): Option[SparkPlan] = carried(plan, timestamp.references.head)

  private def carried(plan: SparkPlan, column: Attribute): Option[SparkPlan] =
    if (plan.outputSet.contains(column)) Some(plan)
    else if (!passesOn(plan)) None
    else carried(plan.children.head, column).map { child =>
      plan.withNewChildren(Seq(child)) match {
        case project: ProjectExec => project.copy(projectList = project.projectList :+ column)
        case other => other
      }
    }.filter(_.outputSet.contains(column))

  private def passesOn(plan: SparkPlan): Boolean = plan match {
    case _: ProjectExec | _: FilterExec | _: EventTimeWatermarkExec => true
    case _: ArrowEvalPythonExec | _: BatchEvalPythonExec => true
    case marked: UnaryExecNode => MarkOperator.unapply(marked).nonEmpty
    case _ => false
  }
}
