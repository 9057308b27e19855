package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.RightOuter
import org.apache.spark.sql.execution.CoalesceExec
import org.apache.spark.sql.execution.CollectMetricsExec
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.GenerateExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec
import org.apache.spark.sql.execution.python.ArrowEvalPythonExec
import org.apache.spark.sql.execution.python.BatchEvalPythonExec
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.recording.MarkOperator

/**
 * Carries a record timestamp to where a query would have dropped it: as one more column of the projections on the way. Only through
 * operators that pass on what they are given, in one stage: no shuffle, no state, and nothing that the optimizer would have planned
 * otherwise. That of an aggregation's groups comes from the aggregation. ([[AcrossShuffles]] carries it through shuffles.)
 *
 * Without state of its own; a walk over the end of a plan, in the thread that plans.
 */
private final class CarriedTimestamp(timestamps: TimestampLineage) {

  /** The timestamp nearest below, and the same plan with its column beside all others; none where it does not come so far. */
  def to(plan: SparkPlan): Option[(Expression, SparkPlan)] = timestamps.of(plan) match {
    case Some(found) => alone(found, plan)
    case None => plan match {
        case union: UnionExec => united(union)
        case _ => carried(plan).orElse(GroupTimestamp.of(plan, timestamps).flatMap((alone _).tupled))
      }
  }

  private def alone(timestamp: Expression, plan: SparkPlan): Option[(Expression, SparkPlan)] =
    Option.when(timestamp.references.size == 1)(timestamp -> plan)

  private def carried(plan: SparkPlan): Option[(Expression, SparkPlan)] = for {
    child <- passedOn(plan)
    (timestamp, carrying) <- to(child)
    below = plan.children.map(one => if (one eq child) carrying else one)
    wide = widened(plan.withNewChildren(below), timestamp.references.head)
    if timestamp.references.subsetOf(wide.outputSet)
  } yield timestamp -> wide

  /**
   * One column of those of all sides. It is a new one: that of a side may be another column on the other side. Spark may unite sides
   * partition by partition; that must stay as it was.
   */
  private def united(union: UnionExec): Option[(Expression, SparkPlan)] = {
    val sides = union.children.map(side =>
      to(side).collect { case (column: Attribute, wide) =>
        ProjectExec(side.output :+ Alias(column, column.name)(), wide)
      }
    )
    if (sides.exists(_.isEmpty)) None
    else {
      val wide = union.withNewChildren(sides.flatten)
      Option.when(wide.outputPartitioning == union.outputPartitioning)(wide.output.last -> wide)
    }
  }

  private def widened(plan: SparkPlan, column: Attribute): SparkPlan = plan match {
    case project: ProjectExec => project.copy(projectList = project.projectList :+ column)
    case generate: GenerateExec => generate.copy(requiredChildOutput = generate.requiredChildOutput :+ column)
    case other => other
  }

  /** The child whose rows an operator gives out as they are, with columns more or less. */
  private def passedOn(plan: SparkPlan): Option[SparkPlan] = plan match {
    case _: ProjectExec | _: FilterExec | _: GenerateExec | _: EventTimeWatermarkExec | _: ArrowEvalPythonExec |
        _: BatchEvalPythonExec | _: CoalesceExec | _: CollectMetricsExec =>
      Some(plan.children.head)
    case sort: SortExec if !sort.global => Some(sort.child)
    case join: BroadcastHashJoinExec
        if join.joinType == Inner || join.joinType == LeftOuter || join.joinType == RightOuter =>
      Some(if (join.buildSide == BuildRight) join.left else join.right)
    case join: BroadcastNestedLoopJoinExec =>
      (join.joinType, join.buildSide) match { // there is no equality in its condition
        case (_: InnerLike | LeftOuter, BuildRight) => Some(join.left)
        case (_: InnerLike | RightOuter, BuildLeft) => Some(join.right)
        case _ => None
      }
    case MarkOperator(_, child) => Some(child)
    case _ => None
  }
}
