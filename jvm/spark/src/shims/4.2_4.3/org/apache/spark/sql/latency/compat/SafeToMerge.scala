package org.apache.spark.sql.latency.compat

import org.apache.spark.sql.execution.SafeForKWayMerge

/**
 * An operator that keeps nothing of a partition in a field of its own, so that a task may read several at once and merge them by their
 * order. Spark plans such a merge before it asks our rules: an operator that they put below without saying so fails the query, or on
 * Spark 4.2 leaves its rows unsorted.
 */
trait SafeToMerge extends SafeForKWayMerge
