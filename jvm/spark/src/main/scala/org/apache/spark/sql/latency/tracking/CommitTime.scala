package org.apache.spark.sql.latency.tracking

import io.sparklatency.time.WallClock
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd

/**
 * When the results of an execution could be seen: its end, by the driver's clock, as Spark's own event tells it. In a
 * micro-batch the sink has then taken all rows. Spark writes its commit log afterwards, but no reader of the sink waits for
 * that. In real-time and continuous mode results can be seen before the end, so there is no such time.
 *
 * Without state, for any thread. Reads a field of the event, and no clock.
 */
private[latency] object CommitTime {
  def of(end: SparkListenerSQLExecutionEnd): Long = WallClock.at(end.time)
}
