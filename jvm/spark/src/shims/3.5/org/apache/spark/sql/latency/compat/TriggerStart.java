package org.apache.spark.sql.latency.compat;

import org.apache.spark.sql.execution.streaming.StreamExecution;

/**
 * The trigger of a query that runs now, and its batch. Reads two fields; any thread may call it. In Java, which sees what is protected
 * or private in Scala.
 */
public final class TriggerStart {
  private TriggerStart() {}

  /** When it began, in milliseconds since the epoch; negative before the first. */
  public static long of(StreamExecution query) {
    return query.org$apache$spark$sql$execution$streaming$ProgressReporter$$currentTriggerStartTimestamp();
  }

  /** The number of the batch that runs, between two triggers that of the last. */
  public static long batchOf(StreamExecution query) {
    return query.currentBatchId();
  }
}
