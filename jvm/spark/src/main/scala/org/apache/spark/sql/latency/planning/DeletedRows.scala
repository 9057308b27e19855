package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan

/**
 * The filter above a scan that takes out rows which the file still has and the table has no more: those in a deletion vector of
 * Delta's. Below it stand rows that are no records. Spark makes one filter of it and of those that follow it.
 *
 * A pattern without state, for any thread. Costs a look at the columns of a filter above a scan.
 */
private[planning] object DeletedRows {
  private val IsDeleted = "__delta_internal_is_row_deleted"

  /** The scan. */
  def unapply(plan: SparkPlan): Option[FileSourceScanExec] = plan match {
    case FilterExec(condition, rows) if condition.references.exists(_.name == IsDeleted) => scanOf(rows)
    case _ => None
  }

  /** Delta has a projection between the two, which gathers what else the scan tells of the file. */
  private def scanOf(rows: SparkPlan): Option[FileSourceScanExec] = rows match {
    case scan: FileSourceScanExec => Some(scan)
    case ProjectExec(_, scan: FileSourceScanExec) => Some(scan)
    case _ => None
  }
}
