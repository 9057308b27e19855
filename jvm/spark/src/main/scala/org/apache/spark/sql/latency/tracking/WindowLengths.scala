package org.apache.spark.sql.latency.tracking

import scala.util.Try

import io.sparklatency.figures.Measure
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.expressions.TimeWindow
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.latency.compat.StateStoreWriter
import org.apache.spark.sql.latency.recording.MarkOperator

/**
 * How long the windows of time are in which operators hold records, as `window(…)` of a plan has them. A session has no length, and
 * neither has what a program keeps in state of its own.
 *
 * Costs a walk over the executed plan for each batch. Without state; the listener's thread calls it.
 */
private[tracking] object WindowLengths extends AdaptiveSparkPlanHelper {

  /** In milliseconds, by the id of the node at which the records come out. */
  def of(plan: SparkPlan): Map[String, Long] = collect(plan) {
    case MarkOperator(mark, child) if mark.figures.owner.measure == Measure.E2ELatency =>
      keeping(
        child
      ).flatMap(operator => allChildren(operator).flatMap(windowOf).headOption).map(mark.node -> _)
  }.flatten.toMap

  /** The operator whose records come to this place with no other node on their way. */
  private def keeping(plan: SparkPlan): Option[SparkPlan] = plan match {
    case operator: StateStoreWriter => Some(operator)
    case MarkOperator(mark, _) if mark.figures.owner.measure == Measure.E2ELatency => None
    case other => allChildren(other).flatMap(keeping).headOption
  }

  /** Of the windows that an operator's records are put in, and not those of an operator before it. */
  private def windowOf(plan: SparkPlan): Option[Long] = plan match {
    case _: StateStoreWriter => None
    case ProjectExec(columns, _) if columns.exists(isWindow) =>
      columns.filter(isWindow).flatMap(lengthMs).headOption
    case several: ExpandExec if several.output.exists(isWindow) =>
      several.projections.headOption.flatMap(_.lift(several.output.indexWhere(isWindow))).flatMap(lengthMs)
    case other => allChildren(other).flatMap(windowOf).headOption
  }

  private def isWindow(column: Expression): Boolean = column match {
    case alias: Alias => alias.metadata.contains(TimeWindow.marker)
    case attribute: Attribute => attribute.metadata.contains(TimeWindow.marker)
    case _ => false
  }

  /** Spark has turned the call into arithmetic on the timestamp. The window of any one is as long as all others. */
  private def lengthMs(window: Expression): Option[Long] = Try {
    val ofEpoch = window.transform { case column: Attribute => Literal(0L, column.dataType) }
    val bounds = ofEpoch.eval().asInstanceOf[InternalRow]
    (bounds.getLong(1) - bounds.getLong(0)) / 1000
  }.toOption
}
