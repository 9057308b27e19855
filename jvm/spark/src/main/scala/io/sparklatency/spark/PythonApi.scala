package io.sparklatency.spark

import org.apache.spark.sql.Column
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.latency.LatencyMarks
import org.apache.spark.sql.latency.LatencyTracker

/** All that Python calls. Values cross as strings, plans as they are; figures as one JSON document. */
object PythonApi {
  def version(): String = Version.current
  def sparkLine(): String = Version.sparkLine

  /** @param timestamp a String, a Column, or null for the watermarked column */
  def withE2ELatency(df: DataFrame, nodeId: String, timestamp: Any, level: String): DataFrame = {
    val recordTimestamp = timestamp match {
      case null => RecordTimestamp.Watermarked
      case name: String => RecordTimestamp.Named(name)
      case column: Column => RecordTimestamp.Given(column)
      case other => throw new IllegalArgumentException(
          s"node '$nodeId': a timestamp is a column name or a Column, not ${other.getClass.getName}"
        )
    }
    LatencyMarks.mark(df, nodeId, recordTimestamp, level)
  }

  /** @param query name or id of a query, or null for all */
  def latencyJson(session: SparkSession, query: String): String = {
    val all = LatencyTracker.of(session.sparkContext).snapshot()
    val chosen = if (query == null) all else all.filter(q => q.name == query || q.id.contains(query))
    if (query != null && chosen.isEmpty)
      throw new IllegalArgumentException(
        s"no figures of a query '$query'; there are figures of ${all.map(_.name).mkString("'", "', '", "'")}"
      )
    LatencyJson(chosen)
  }
}
