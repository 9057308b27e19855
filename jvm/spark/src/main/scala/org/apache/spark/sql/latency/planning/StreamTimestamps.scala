package org.apache.spark.sql.latency.planning

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.plans.logical.Union
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.marking.IngestionStamp
import org.apache.spark.sql.latency.marking.StoredColumns
import org.apache.spark.sql.types.TimestampType

/**
 * Record timestamps in the optimizer's plan of a batch: watermarked columns, and the `timestamp` of sources that have one, through renames,
 * unions and `max`. [[TimestampLineage]] finds them, and others, in the physical plan. Stamps are left out: they change with each attempt.
 *
 * Remembers what it found at each operator, so it walks a plan once. Not thread-safe: one planning thread uses it.
 */
private final class StreamTimestamps(whole: LogicalPlan, query: Option[StreamExecution]) {

  private val ofSources = AttributeSet(for {
    running <- query.toSeq
    relation <- StreamingQuerySources.relationsIn(running.logicalPlan)
    if RecordSource.hasTimestamp(relation.name)
    column <- relation.output if column.name == "timestamp"
  } yield column)

  private val watermarked = AttributeSet(whole.collect { case watermark: EventTimeWatermark =>
    watermark.eventTime
  })

  private val known = new IdentityHashMap[LogicalPlan, AttributeSet]

  /** What another attempt of a task would compute anew, and all that comes of it. */
  private val changing = whole.collect { case step => step }.reverse.foldLeft(AttributeSet.empty) {
    case (found, IngestionStamp(stamp, _)) => found + stamp
    case (found, Project(columns, _)) => found ++ AttributeSet(columns.collect {
        case made: Alias if !made.child.deterministic || made.references.exists(found.contains) =>
          made.toAttribute
      })
    case (found, union: Union) => found ++ AttributeSet(union.output.zipWithIndex.collect {
        case (column, i) if union.children.exists(side => found.contains(side.output(i))) => column
      })
    case (found, step) if step.inputSet.exists(found.contains) => found ++ (step.outputSet -- step.inputSet)
    case (found, _) => found
  }

  /** The record timestamp at this place, first of all the watermarked one. */
  def of(plan: LogicalPlan): Option[Attribute] = {
    val known = knownAt(plan)
    val (first, others) =
      plan.output.filter(column => column.dataType == TimestampType && known.contains(column))
        .partition(isWatermarked)
    (first ++ others).headOption
  }

  private val stored = StoredColumns.in(whole)

  private def isWatermarked(column: Attribute): Boolean =
    column.metadata.contains(EventTimeWatermark.delayKey) && !stored.contains(column) || watermarked.contains(
      column
    )

  private def knownAt(plan: LogicalPlan): AttributeSet = {
    if (!known.containsKey(plan)) known.put(plan, find(plan))
    known.get(plan)
  }

  private def find(plan: LogicalPlan): AttributeSet = plan match {
    case leaf if leaf.children.isEmpty => AttributeSet(leaf.output.filter(isTimestamp))
    // Above it a column has the id of that of its first side, which says nothing about the others.
    case union: Union => StampColumns.onAllSides(union, knownAt)
    case other =>
      val below = other.children.map(knownAt).reduce(_ ++ _)
      (below ++ made(other, below)) -- changing
  }

  private def isTimestamp(column: Attribute): Boolean = isWatermarked(column) || ofSources.contains(column)

  private def made(plan: LogicalPlan, below: AttributeSet): AttributeSet = {
    val columns: Seq[NamedExpression] = plan match {
      case Project(columns, _) => columns
      case aggregate: Aggregate => aggregate.aggregateExpressions
      case watermark: EventTimeWatermark => Seq(watermark.eventTime)
      case _ => Nil
    }
    AttributeSet(columns.collect {
      case column: Attribute if isTimestamp(column) && !below.contains(column) => column
      case renamed @ Alias(column: Attribute, _)
          if below.contains(column) || ofSources.contains(renamed.toAttribute) =>
        renamed.toAttribute
      case newest @ Alias(AggregateExpression(Max(column: Attribute), _, _, _, _), _)
          if below.contains(column) =>
        newest.toAttribute
    })
  }
}
