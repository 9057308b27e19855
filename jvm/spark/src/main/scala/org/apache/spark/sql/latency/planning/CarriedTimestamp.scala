package org.apache.spark.sql.latency.planning

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.RightOuter
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.GenerateExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
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
  def below(node: SparkPlan, timestamps: TimestampLineage): Option[Expression] =
    (timestamps.of(node), passedOn(node)) match {
      case (None, Some(child)) => below(child, timestamps)
      case (found, _) => found.filter(_.references.size == 1)
    }

  /** The same plan with the timestamp's column in its output, beside all others; none where it does not come so far. */
  def to(plan: SparkPlan, timestamp: Expression): Option[SparkPlan] = carried(plan, timestamp.references.head)

  private def carried(plan: SparkPlan, column: Attribute): Option[SparkPlan] =
    if (plan.outputSet.contains(column)) Some(plan)
    else {
      val wider = for (child <- passedOn(plan); carrying <- carried(child, column))
        yield widened(
          plan.withNewChildren(plan.children.map(one => if (one eq child) carrying else one)),
          column
        )
      wider.filter(_.outputSet.contains(column))
    }

  private def widened(plan: SparkPlan, column: Attribute): SparkPlan = plan match {
    case project: ProjectExec => project.copy(projectList = project.projectList :+ column)
    case generate: GenerateExec => generate.copy(requiredChildOutput = generate.requiredChildOutput :+ column)
    case other => other
  }

  /** The child whose rows an operator gives out as they are, with columns more or less. */
  private def passedOn(plan: SparkPlan): Option[SparkPlan] = plan match {
    case _: ProjectExec | _: FilterExec | _: GenerateExec | _: EventTimeWatermarkExec | _: ArrowEvalPythonExec |
        _: BatchEvalPythonExec =>
      Some(plan.children.head)
    case join: BroadcastHashJoinExec
        if join.joinType == Inner || join.joinType == LeftOuter || join.joinType == RightOuter =>
      Some(if (join.buildSide == BuildRight) join.left else join.right)
    case MarkOperator(_, child) => Some(child)
    case _ => None
  }
}
