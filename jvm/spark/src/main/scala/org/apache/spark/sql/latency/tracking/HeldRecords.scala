package org.apache.spark.sql.latency.tracking

import scala.util.Try

import io.sparklatency.figures.Held
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.SessionWindow
import org.apache.spark.sql.catalyst.expressions.TimeWindow
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.latency.compat.SessionWindowStateStoreSaveExec
import org.apache.spark.sql.latency.compat.StateStoreSaveExec
import org.apache.spark.sql.latency.compat.StateStoreWriter
import org.apache.spark.sql.latency.compat.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.latency.compat.WatermarkSupport
import org.apache.spark.sql.latency.planning.StatefulOperators
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.CalendarIntervalType

/**
 * Which nodes records come to from operators that may hold them, how long the windows are, as `window(…)` of a plan has them, and the
 * gaps of its `session_window(…)`. What else decides when records leave has no length: the other side of a join, a function with
 * state of its own.
 *
 * Costs two walks over the executed plan for each batch. Without state; the listener's thread calls it.
 */
private[tracking] object HeldRecords extends AdaptiveSparkPlanHelper {

  /**
   * By the id of the node at which the records come out.
   *
   * @param behind the nodes that come first behind the plan, in foreachBatch
   */
  def of(plan: SparkPlan, behind: Seq[String] = Nil): Map[String, Held] = {
    val within = collect(plan) {
      case MarkOperator(mark, child) if mark.isOfLatency =>
        holding(child).map(operator => mark.node -> held(operator))
    }.flatten
    val atEnd = if (behind.isEmpty) None else holding(plan)
    (within ++ atEnd.toSeq.flatMap(operator => behind.map(_ -> held(operator)))).toMap
  }

  /** The operator whose records come to this place with no other node on their way. */
  private def holding(plan: SparkPlan): Option[SparkPlan] = plan match {
    case MarkOperator(mark, _) if mark.isOfLatency => None
    case operator if StatefulOperators.holds(operator) => Some(operator)
    case other => allChildren(other).flatMap(holding).headOption
  }

  private def held(operator: SparkPlan): Held = kept(operator).copy(laterMs = laterMs(operator))

  private def laterMs(operator: SparkPlan): Long = {
    val before = operator.children.flatMap(collect(_)(Function.unlift(watermarkMs)))
    val later = for (here <- watermarkMs(operator); there <- before.maxOption) yield there - here
    later.fold(0L)(_.max(0L))
  }

  /** By which an operator gives out, or forgets. Spark has one for each. */
  private def watermarkMs(operator: SparkPlan): Option[Long] = operator match {
    case join: StreamingSymmetricHashJoinExec => join.eventTimeWatermarkForEviction
    case supporting: WatermarkSupport => supporting.eventTimeWatermarkForEviction
    case _ => None
  }

  private def kept(operator: SparkPlan): Held = operator match {
    case aggregate: StateStoreSaveExec =>
      Held(
        windowMs = windowMs(aggregate.keyExpressions, aggregate.child),
        eachBatch = aggregate.outputMode.exists(_ != OutputMode.Append())
      )
    case aggregate: BaseAggregateExec if StatefulOperators.isStreamline(aggregate) =>
      Held(windowMs = windowMs(aggregate.groupingExpressions, aggregate.child), eachBatch = true)
    case sessions: SessionWindowStateStoreSaveExec =>
      Held(
        gapMs = madeBelow(sessions.child, SessionWindow.marker),
        eachBatch = sessions.outputMode.exists(_ != OutputMode.Append())
      )
    case join: StreamingSymmetricHashJoinExec =>
      val isOfMatches = join.joinType == Inner || join.joinType == LeftSemi
      Held(until = if (isOfMatches) Held.Match else Held.MatchOrWatermark)
    case function: StateStoreWriter =>
      val isTimed = StatefulOperators.goesByWatermark(function)
      Held(until = if (isTimed) Held.FunctionOrWatermark else Held.Function)
    case _ => Held()
  }

  private def windowMs(keys: Seq[NamedExpression], child: SparkPlan): Option[Long] =
    if (keys.exists(is(TimeWindow.marker))) madeBelow(child, TimeWindow.marker) else None

  /** Where the windows or sessions are made, as `marker` tells, and not those of an operator before. */
  private def madeBelow(plan: SparkPlan, marker: String): Option[Long] =
    if (StatefulOperators.holds(plan)) None
    else made(plan).filter(is(marker)).flatMap(lengthMs(_)).headOption
      .orElse(allChildren(plan).flatMap(madeBelow(_, marker)).headOption)

  private def made(plan: SparkPlan): Seq[NamedExpression] = plan match {
    case ProjectExec(columns, _) => columns
    case several: ExpandExec =>
      several.projections.headOption.toSeq.flatMap(_.zip(several.output)).map { case (made, column) =>
        Alias(made, column.name)(explicitMetadata = Some(column.metadata))
      }
    case _ => Nil
  }

  private def is(marker: String)(column: NamedExpression): Boolean = column.metadata.contains(marker)

  /**
   * Spark has turned the call into arithmetic on the timestamp. The window of any one is as long as all others, and so is its session
   * where the gap is a literal.
   */
  private def lengthMs(window: Expression): Option[Long] =
    if (window.exists(part => part.dataType == CalendarIntervalType && !part.foldable)) None
    else Try {
      val ofEpoch = window.transform { case column: Attribute => Literal(0L, column.dataType) }
      val bounds = ofEpoch.eval().asInstanceOf[InternalRow]
      (bounds.getLong(1) - bounds.getLong(0)) / 1000
    }.toOption
}
