package org.apache.spark.sql.latency.application

import scala.annotation.unused

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.latency.planning.NewerWatermarks

/** Says, for the façades, that Spark 3.5 has no system-time watermarks and no idle timeouts. Without state. */
object DatasetWatermarks {
  def idleTimeout[T](@unused dataset: Dataset[T], @unused timeout: String): Dataset[T] =
    NewerWatermarks.refuse(NewerWatermarks.Timeout)

  def systemTime[T](@unused dataset: Dataset[T], @unused column: String, @unused lag: String): Dataset[T] =
    NewerWatermarks.refuse(NewerWatermarks.SystemTime)
}
