package org.apache.spark.sql.latency.planning

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Greatest
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.UpdateEventTimeColumnExec
import org.apache.spark.sql.latency.marking.StoredColumns
import org.apache.spark.sql.latency.marking.TimestampColumn
import org.apache.spark.sql.latency.recording.ReadingTime
import org.apache.spark.sql.types.TimestampType

/**
 * Follows record timestamps through a physical plan: watermarked columns, the `timestamp` of Kafka and of the rate
 * source, and where a source has none ingestion timestamps. It follows them through renames, windows and `max`, and through functions of
 * the user's by name. The end of a window is one where a step keeps no other.
 *
 * Remembers what it found at each operator, so it walks a plan once. Not thread-safe: one planning thread uses it.
 */
private[latency] final class TimestampLineage(plan: SparkPlan, sources: RecordSources, timeZone: String) {

  private val watermarked = TimestampLineage.watermarked(plan)

  /** Columns of tables, by whatever name, as [[StoredColumns]] has them. */
  private val stored = storedIn(plan)

  private val known = new IdentityHashMap[SparkPlan, AttributeSet]

  /**
   * The record timestamp at `node`, if one is left there. First choice is the watermarked column, then the source's own, then a
   * column that Spark derived from a watermarked one, then the end of a window. Of several (a join of two streams) the newest
   * counts, as in Kafka Streams.
   */
  def of(node: SparkPlan): Option[Expression] = {
    val known = knownAt(node)
    val candidates = node.output.filter(isTimestamp(_, known))
    val (windows, plain) = candidates.partition(column => TimestampColumn.isWindow(column.dataType))
    val (carried, derived) = plain.partition(known.contains)
    val chosen = Seq(carried.filter(isWatermarked), carried, derived, windows).find(_.nonEmpty).getOrElse(Nil)
    chosen.flatMap(TimestampColumn.read(_, timeZone)) match {
      case Seq() => None
      case Seq(one) => Some(one)
      case several => Some(Greatest(several))
    }
  }

  private def isWatermarked(column: Attribute): Boolean =
    watermarked.contains(column.exprId) ||
      column.metadata.contains(EventTimeWatermark.delayKey) && !stored.contains(column)

  private def isTimestamp(column: Attribute, known: AttributeSet): Boolean =
    TimestampColumn.fits(column.dataType) && (isWatermarked(column) || known.contains(column))

  /** Includes columns that are not in the node's output: an aggregation's last piece names columns that its first piece read. */
  private def knownAt(node: SparkPlan): AttributeSet = {
    if (!known.containsKey(node)) known.put(node, find(node))
    known.get(node)
  }

  private def find(node: SparkPlan): AttributeSet = node match {
    case stage: QueryStageExec => renamed(stage.plan, stage)
    case reused: ReusedExchangeExec => renamed(reused.child, reused)
    case union: UnionExec => AttributeSet(union.output.zipWithIndex.collect {
        case (column, i) if union.children.forall(child => isTimestamp(child.output(i), knownAt(child))) =>
          column
      })
    case leaf if leaf.children.isEmpty =>
      AttributeSet(leaf.output.filter(column =>
        watermarked.contains(column.exprId) || isOfSource(leaf, column)
      ))
    case other =>
      val below = other.children.map(knownAt).reduce(_ ++ _)
      other match {
        case watermark: EventTimeWatermarkExec => below + watermark.eventTime
        case watermark: UpdateEventTimeColumnExec =>
          below ++ AttributeSet(watermark.output.filter(isWatermarked))
        case project: ProjectExec =>
          below ++ derived(project.projectList, below) ++ stamps(project, below)
        case aggregate: BaseAggregateExec =>
          val newest = below ++ AttributeSet(aggregate.aggregateExpressions.collect {
            case one @ AggregateExpression(Max(column: Attribute), _, _, _, _)
                if isTimestamp(column, below) =>
              one.resultAttribute
          })
          newest ++ derived(aggregate.resultExpressions, newest)
        case expand: ExpandExec => below ++ sliding(expand, below)
        case UserFunction(columns) => below ++ namesakes(columns, below)
        case _ => below
      }
  }

  private def storedIn(plan: SparkPlan): AttributeSet = plan match {
    case adaptive: AdaptiveSparkPlanExec => storedIn(adaptive.executedPlan)
    case stage: QueryStageExec => handedOn(stage.plan, stage)
    case reused: ReusedExchangeExec => handedOn(reused.child, reused)
    case leaf if leaf.children.isEmpty =>
      if (sources.of(leaf).isEmpty) leaf.outputSet else AttributeSet.empty
    case step =>
      val below = step.children.map(storedIn).reduce(_ ++ _)
      step match {
        case ProjectExec(columns, _) => below ++ StoredColumns.renamedIn(columns, below)
        case aggregate: BaseAggregateExec =>
          below ++ StoredColumns.renamedIn(aggregate.resultExpressions, below)
        case _ => below
      }
  }

  private def handedOn(from: SparkPlan, to: SparkPlan): AttributeSet = {
    val below = storedIn(from)
    below ++ AttributeSet(from.output.zip(to.output).collect {
      case (column, other) if below.contains(column) => other
    })
  }

  /** Of windows that slide a record is in several: Spark makes as many rows of it. */
  private def sliding(expand: ExpandExec, known: AttributeSet): AttributeSet =
    AttributeSet(expand.output.zipWithIndex.collect {
      case (column, i)
          if TimestampColumn.isWindow(column.dataType) &&
            expand.projections.forall(_(i).references.exists(isTimestamp(_, known))) => column
    })

  /** Nobody can see where a function's columns come from. What has the name and type of a timestamp that went in is taken for it. */
  private def namesakes(columns: Seq[Attribute], below: AttributeSet): AttributeSet = {
    val wentIn = below.map(column => column.name -> column.dataType).toSet
    AttributeSet(columns.filter(column =>
      TimestampColumn.fits(column.dataType) && wentIn(column.name -> column.dataType)
    ))
  }

  private def renamed(from: SparkPlan, to: SparkPlan): AttributeSet =
    knownAt(from) ++ AttributeSet(from.output.zip(to.output).collect {
      case (column, other) if isTimestamp(column, knownAt(from)) => other
    })

  private def derived(columns: Seq[NamedExpression], known: AttributeSet): AttributeSet = {
    val found = AttributeSet(columns.collect {
      case renamed @ Alias(column: Attribute, _) if isTimestamp(column, known) => renamed.toAttribute
      case window @ Alias(struct, _)
          if TimestampColumn.isWindow(struct.dataType) && struct.references.exists(isTimestamp(_, known)) =>
        window.toAttribute
    })
    val all = columns.map(_.toAttribute).filter(isTimestamp(_, known ++ found))
    if (all.exists(column => !TimestampColumn.isWindow(column.dataType))) found
    else found ++ AttributeSet(columns.collect {
      case end @ Alias(TimestampColumn.WindowEnd(window: Attribute), _) if isTimestamp(window, known) =>
        end.toAttribute
    })
  }

  /** Ingestion timestamps, where the source has none of its own. Where the query has a watermark, ages go by that alone. */
  private def stamps(project: ProjectExec, below: AttributeSet): AttributeSet =
    AttributeSet(project.projectList.collect {
      case ReadingTime.Column(stamp)
          if below.isEmpty && (watermarked.isEmpty || watermarked(stamp.exprId)) => stamp.toAttribute
    })

  private def isOfSource(leaf: SparkPlan, column: Attribute): Boolean =
    column.name == "timestamp" && column.dataType == TimestampType &&
      sources.of(leaf).exists(source => RecordSource.hasTimestamp(source.name))
}

private[latency] object TimestampLineage {

  /**
   * Watermarked columns, and what they are called below the watermark's operator, back to the source: a source may itself rename what it
   * reads, and unite it.
   */
  def watermarked(plan: SparkPlan): Set[ExprId] =
    plan.collect { case step => step }.foldLeft(Set.empty[ExprId]) {
      case (found, watermark: EventTimeWatermarkExec) => found + watermark.eventTime.exprId
      case (found, ProjectExec(columns, _)) => found ++ columns.collect {
          case renamed @ Alias(column: Attribute, _) if found(renamed.exprId) => column.exprId
        }
      case (found, union: UnionExec) => found ++ union.output.zipWithIndex.collect {
          case (column, i) if found(column.exprId) => union.children.map(_.output(i).exprId)
        }.flatten
      case (found, _) => found
    }
}
