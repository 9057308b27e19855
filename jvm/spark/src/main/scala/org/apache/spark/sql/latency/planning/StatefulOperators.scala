package org.apache.spark.sql.latency.planning

import java.util.Locale

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.execution.AppendColumnsWithObjectExec
import org.apache.spark.sql.execution.SerializeFromObjectExec
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.aggregate.MergingSessionsExec
import org.apache.spark.sql.execution.aggregate.UpdatingSessionsExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.latency.compat.SessionWindowStateStoreRestoreExec
import org.apache.spark.sql.latency.compat.SessionWindowStateStoreSaveExec
import org.apache.spark.sql.latency.compat.StateStoreRestoreExec
import org.apache.spark.sql.latency.compat.StateStoreSaveExec
import org.apache.spark.sql.latency.compat.StateStoreWriter
import org.apache.spark.sql.latency.compat.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.latency.compat.UpdateEventTimeColumnExec
import org.apache.spark.sql.latency.compat.WatermarkSupport
import org.apache.spark.sql.latency.compat.isWithoutTimers
import org.apache.spark.sql.latency.compat.shortName
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.ObjectType

/**
 * The operators of a streaming plan that keep state, and their names. Without state of its own. It only walks plans: a walk a
 * call, in the thread that plans.
 */
private[latency] object StatefulOperators extends AdaptiveSparkPlanHelper {

  def isStateful(plan: SparkPlan): Boolean = find(plan)(_.isInstanceOf[StateStoreWriter]).nonEmpty

  /** Whether records may come out in a later batch than they came in. What drops duplicates, or counts to a limit, passes the others on. */
  def holdsRecords(plan: SparkPlan): Boolean =
    find(plan)(holds).nonEmpty

  /**
   * Whether results wait for the watermark, so that a shorter delay of it gives them earlier. Windows do in append mode; in others Spark gives
   * out what they have so far. Not where the delay is also how long duplicates are looked for: a shorter one lets some through.
   */
  def awaitsWatermark(plan: SparkPlan): Boolean =
    find(plan)(modeOf(_).contains(OutputMode.Append())).nonEmpty && find(plan)(isWithinWatermark).isEmpty

  private def modeOf(operator: SparkPlan): Option[OutputMode] = operator match {
    case aggregate: StateStoreSaveExec => aggregate.outputMode
    case sessions: SessionWindowStateStoreSaveExec => sessions.outputMode
    case _ => None
  }

  private def isWithinWatermark(operator: SparkPlan): Boolean = operator match {
    case keepsState: StateStoreWriter => name(keepsState) == WithinWatermark
    case _ => false
  }

  /** The same as [[holdsRecords]] of one operator. */
  def holds(operator: SparkPlan): Boolean = operator match {
    case keepsState: StateStoreWriter => !PassOn(name(keepsState))
    case _ => false
  }

  /** The operators of a plan that keep state, upstream first. */
  def operators(plan: SparkPlan): Seq[StateStoreWriter] =
    plan.children.flatMap(operators) ++ operator(plan)

  /**
   * The stateful operator that ends at `node`. Spark plans some operators in pieces. An aggregation ends above the operator
   * that saves its state, and above a sort of what that gives, if it goes by sorted rows. An operator on objects ends where
   * they become rows again. If another function takes them before that, it ends nowhere.
   */
  def operatorEndingAt(node: SparkPlan, above: List[SparkPlan]): Option[StateStoreWriter] =
    if (above.headOption.exists(_.isInstanceOf[UpdateEventTimeColumnExec])) None
    else operatorUnder(node)

  /** The nodes below the operator's first piece, which feed it. An aggregation begins before its shuffle. */
  def intakes(operator: StateStoreWriter): Seq[SparkPlan] = operator match {
    case save if isSave(save) => Seq(belowAggregation(save.children.head))
    case join: StreamingSymmetricHashJoinExec => join.children
    case other => other.children.take(1) // a second one is the state to begin with
  }

  /** Of two aggregations one may stand right on the other: then its first piece is fed by the last one of that. */
  @tailrec
  private def belowAggregation(node: SparkPlan): SparkPlan = node match {
    case other if operatorUnder(other).nonEmpty => other
    case _: BaseAggregateExec | _: Exchange | _: SortExec | _: StateStoreRestoreExec | _: StateStoreSaveExec |
        _: SessionWindowStateStoreRestoreExec | _: SessionWindowStateStoreSaveExec | _: MergingSessionsExec |
        _: UpdatingSessionsExec =>
      belowAggregation(node.children.head)
    case other => other
  }

  /** Whether it asks for another batch when the watermark moves, and not at each trigger, as what goes by the clock does. */
  def goesByWatermark(operator: StateStoreWriter): Boolean = !isWithoutTimers(operator) &&
    operator.shouldRunAnotherBatch(Long.MaxValue) && !operator.shouldRunAnotherBatch(Long.MinValue)

  /** Whether any operator of a plan does. Else nothing is given out or forgotten by the watermark. */
  def usesWatermark(plan: SparkPlan): Boolean = find(plan) {
    case operator: StateStoreWriter => goesByWatermark(operator)
    case _ => false
  }.nonEmpty

  /**
   * The event time that decides which rows of `intake` are late in this batch, and the watermark, in microseconds. None where late ones
   * are taken in: by an aggregation of complete mode, and a function without timeouts of event time. Sessions drop them in each mode.
   */
  def dropsLate(operator: StateStoreWriter, intake: SparkPlan): Option[(Expression, Long)] = {
    val expression = operator match {
      case join: StreamingSymmetricHashJoinExec =>
        val column = WatermarkSupport.findEventTimeColumn(intake.output, allowMultipleEventTimeColumns = true)
        WatermarkSupport.watermarkExpression(column, join.eventTimeWatermarkForLateEvents)
      case sessions: SessionWindowStateStoreSaveExec => sessions.watermarkExpressionForLateEvents
      case supporting: WatermarkSupport if goesByWatermark(operator) =>
        supporting.watermarkExpressionForLateEvents
      case _ => None
    }
    expression.collect {
      case LessThanOrEqual(eventTime, Literal(watermark: Long, _))
          if eventTime.references.subsetOf(intake.outputSet) =>
        eventTime -> watermark
    }
  }

  /** Whether it gives out objects. They are rows only above it, if at all. */
  def givesObjects(operator: SparkPlan): Boolean =
    operator.output.exists(_.dataType.isInstanceOf[ObjectType])

  private def operatorUnder(node: SparkPlan): Option[StateStoreWriter] = node match {
    case update: UpdateEventTimeColumnExec => operatorUnder(update.child)
    case rows: SerializeFromObjectExec => operator(rows.child)
    case rows: AppendColumnsWithObjectExec => operator(rows.child)
    case aggregate: BaseAggregateExec => Some(unsorted(aggregate.child)).filter(isSave).flatMap(operator)
    case other if isSave(other) || givesObjects(other) => None
    case other => operator(other)
  }

  private def unsorted(node: SparkPlan): SparkPlan = node match {
    case sort: SortExec => sort.child
    case other => other
  }

  private def operator(node: SparkPlan): Option[StateStoreWriter] = node match {
    case writer: StateStoreWriter => Some(writer)
    case _ => None
  }

  private def isSave(node: SparkPlan): Boolean =
    node.isInstanceOf[StateStoreSaveExec] || node.isInstanceOf[SessionWindowStateStoreSaveExec] ||
      isStreamline(node)

  /** Real-time mode of Spark 4.3 has one operator that aggregates and keeps the state. It gives out what there is so far. */
  def isStreamline(node: SparkPlan): Boolean =
    node.isInstanceOf[BaseAggregateExec] && node.isInstanceOf[StateStoreWriter]

  private val WithinWatermark = "deduplicate-within-watermark"
  private val PassOn = Set("deduplicate", WithinWatermark, "limit")

  /** `aggregate`, `deduplicate`, `join`, …: the name that users know, else Spark's own. */
  def name(operator: StateStoreWriter): String = operator match {
    case _: SessionWindowStateStoreSaveExec => "session-window" // Spark 3.5 has no name for it
    case other => named(shortName(other))
  }

  private def named(kind: String): String = kind match {
    case "stateStoreSave" | "StatefulStreamlineAggregate" => "aggregate"
    case "dedupe" => "deduplicate"
    case "dedupeWithinWatermark" => WithinWatermark
    case "symmetricHashJoin" => "join"
    case "globalLimit" => "limit"
    case other => hyphenated(other.stripSuffix("Exec"))
  }

  def hyphenated(camelCase: String): String =
    camelCase.replaceAll("([a-z])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT)
}
