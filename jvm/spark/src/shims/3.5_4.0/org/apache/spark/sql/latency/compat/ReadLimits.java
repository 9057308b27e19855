package org.apache.spark.sql.latency.compat;

import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.streaming.StreamExecution;
import scala.collection.immutable.Map;

/**
 * How much a query lets its sources read at once. Spark has asked each of them when the query began, in the query's own thread. No other
 * may: a source in Python answers one question at a time, by one connection. Reads a field; any thread may call it. In Java, which sees
 * what is protected in Scala.
 */
public final class ReadLimits {
  private ReadLimits() {}

  /** Of each source; empty before the query has begun. */
  public static Map<SparkDataStream, ReadLimit> of(StreamExecution query) {
    return query.uniqueSources();
  }
}
