package org.apache.spark.sql.latency.planning

import java.util.UUID

import scala.annotation.unused

import org.apache.spark.sql.latency.compat.StreamExecution

/** No query of Spark 3.5 has a system-time watermark or an idle timeout: see [[NewerWatermarks]]. Without state. */
private[latency] object SystemTimeQueries {
  def idleSince(@unused query: StreamExecution, @unused batch: Long): Map[UUID, Long] = Map.empty
  def dropsLate(@unused query: StreamExecution): Boolean = false
}

/** No watermark is one. */
private[latency] trait SystemTimeWatermarkExec {
  def systemTimeMs: Option[Long]
}
