package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.recording.ReadingTime
import org.apache.spark.sql.latency.recording.RecordExpression

/**
 * Moves stamps below filters and projections, right above what reads the records: what a filter did not leave to the source would
 * otherwise be done before the clock is read. Only the planned query shows what is left. Rows and columns stay as they are.
 *
 * Runs in the planning thread, for every plan of the session. A plan without a stamp costs one walk.
 */
private[latency] object StampsAtSources extends HarmlessRule {

  override protected def applied(plan: SparkPlan): SparkPlan = plan.transformUp {
    case Stamped(stamp, child) =>
      moved(stamp, child)
  }

  /** All columns of `plan`, and the stamp. */
  def onTop(plan: SparkPlan, stamp: Attribute, everyRow: Boolean): SparkPlan =
    onTop(
      plan,
      Alias(ReadingTime(everyRow), stamp.name)(stamp.exprId, explicitMetadata = Some(stamp.metadata))
    )

  /** Whether this is where records are stamped. */
  def isAt(plan: SparkPlan): Boolean = plan match {
    case ProjectExec(columns, _) => columns.exists(ReadingTime.Column.unapply(_).nonEmpty)
    case _ => false
  }

  private def onTop(plan: SparkPlan, stamp: Alias): SparkPlan = ProjectExec(plan.output :+ stamp, plan)

  private def moved(stamp: Alias, plan: SparkPlan): SparkPlan = plan match {
    case Passed(filter: FilterExec, child) => filter.withNewChildren(Seq(moved(stamp, child)))
    // No work: one projection does for both.
    case Passed(ProjectExec(columns, _), child)
        if columns.forall(_.isInstanceOf[Attribute]) && !isPassed(child) =>
      ProjectExec(columns :+ stamp, child)
    case Passed(ProjectExec(columns, _), child) =>
      ProjectExec(columns :+ stamp.toAttribute, moved(stamp, child))
    case other => onTop(other, stamp)
  }

  private def isPassed(plan: SparkPlan): Boolean = Passed.unapply(plan).nonEmpty

  /** What a stamp moves below, and what is below that. */
  private object Passed {
    def unapply(plan: SparkPlan): Option[(SparkPlan, SparkPlan)] = plan match {
      case FilterExec(RecordExpression(_), _) | DeletedRows(_) => None
      case FilterExec(_, child) => Some(plan -> child)
      case ProjectExec(columns, child) if !columns.exists(ReadingTime.isIn) => Some(plan -> child)
      case _ => None
    }
  }

  /** A projection that does nothing but stamp. */
  private object Stamped {
    def unapply(plan: SparkPlan): Option[(Alias, SparkPlan)] = plan match {
      case ProjectExec(columns :+ ReadingTime.Column(stamp), child)
          if columns.map(_.exprId) == child.output.map(_.exprId) && columns.forall(
            _.isInstanceOf[Attribute]
          ) =>
        Some(stamp -> child)
      case _ => None
    }
  }
}
