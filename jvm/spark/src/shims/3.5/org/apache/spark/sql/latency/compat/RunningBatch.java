package org.apache.spark.sql.latency.compat;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.streaming.StreamExecution;
import scala.collection.immutable.Map;

/** The batch that a query runs. Reads a field; any thread may call it. In Java, which sees what is protected in Scala. */
final class RunningBatch {
  private RunningBatch() {}

  /** The plan of what it reads of each stream; null before the first. */
  static Map<SparkDataStream, LogicalPlan> newData(StreamExecution query) {
    return query.newData();
  }
}
