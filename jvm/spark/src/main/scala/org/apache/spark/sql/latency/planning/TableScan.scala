package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.DataSourceScanExec
import org.apache.spark.sql.execution.RangeExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanExecBase

/** What a query reads beside its streams. Of rows from elsewhere, as those of a foreachBatch's DataFrame, nobody knows what they are. */
private[latency] object TableScan {
  def is(leaf: SparkPlan): Boolean = leaf match {
    case _: DataSourceScanExec | _: DataSourceV2ScanExecBase | _: RangeExec => true
    case _ => false
  }
}
