package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

/**
 * The sources of a query. It reads the plan and never the data; [[areIn]] costs one walk. Used by the thread that plans the
 * query, and a streaming query's also by the listener's thread, each with its own instance.
 */
private[latency] trait RecordSources extends AdaptiveSparkPlanHelper {

  /** The source that this leaf of the plan reads, if any. */
  def of(leaf: SparkPlan): Option[RecordSource]

  /** The source whose records `plan` gives out as they are, and the leaf that reads it. */
  def readBy(plan: SparkPlan): Option[(RecordSource, SparkPlan)] = {
    val leaf = DeletedRows.unapply(plan).getOrElse(plan)
    of(leaf).map(_ -> leaf)
  }

  /** Whether `plan` ends where the query ends. An adaptive query is planned in stages, a subquery apart. */
  def endWith(plan: SparkPlan): Boolean

  def areIn(plan: SparkPlan): Boolean = find(plan)(of(_).nonEmpty).nonEmpty
}
