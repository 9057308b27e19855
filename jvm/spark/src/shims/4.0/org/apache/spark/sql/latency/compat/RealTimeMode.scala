package org.apache.spark.sql.latency.compat

import org.apache.spark.sql.connector.read.streaming.SparkDataStream

/** No trigger is one: real-time mode came with Spark 4.1. */
trait RealTimeTrigger {
  def batchDurationMs: Long
}

/** No operator is one. */
trait RealTimeStreamScanExec {
  def stream: SparkDataStream
}
