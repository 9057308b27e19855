package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.marking.IngestionTime
import org.apache.spark.sql.types.TimestampType

/**
 * Ingestion timestamps that nobody wrote, for queries in which no timestamp is left anywhere. Right above each source one projection adds
 * the column, and another takes it away: so nothing else of the plan sees it. Marks go between the two, or [[CarriedTimestamp]] takes the
 * column along to the end.
 *
 * Without state; a walk over the plan, in the thread that plans.
 */
private object OwnStamps {

  /** The plan with such a pair above each source; the plan itself where it has a timestamp. */
  def in(
      plan: SparkPlan,
      sources: RecordSources,
      timestamps: TimestampLineage,
      hasBatches: Boolean
  ): SparkPlan =
    if (plan.exists(timestamps.of(_).nonEmpty)) plan else stamped(plan, sources, everyRow = !hasBatches)

  private def stamped(plan: SparkPlan, sources: RecordSources, everyRow: Boolean): SparkPlan =
    if (sources.readBy(plan).isEmpty) plan.mapChildren(stamped(_, sources, everyRow))
    else {
      val stamp = AttributeReference(IngestionTime.Name, TimestampType, nullable = false)()
      ProjectExec(plan.output, StampsAtSources.onTop(plan, stamp, everyRow))
    }

  /** Without the pairs between which nothing has come to stand. */
  def withoutUnread(plan: SparkPlan): SparkPlan = plan.transformUp {
    case ProjectExec(columns, stamped @ ProjectExec(_, read))
        if StampsAtSources.isAt(stamped) && columns == read.output => read
  }
}
