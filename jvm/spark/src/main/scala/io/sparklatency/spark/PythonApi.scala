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

  /**
   * @param query name or id of a query, and then its newest run, or the id of a run; null for all
   * @throws IllegalArgumentException when there is no such query, or no batch of it has ended yet
   */
  def latencyJson(session: SparkSession, query: String): String = {
    val tracker = LatencyTracker.of(session.sparkContext)
    tracker.settle()
    def asked = tracker.query(query).getOrElse(
      throw new IllegalArgumentException(LatencyJson.noFigures(query, tracker.queryNames))
    )
    LatencyJson.queries(if (query == null) tracker.snapshot() else Seq(asked), tracker.status).toString
  }

  /**
   * The last batches of a query, as REST gives them.
   *
   * @param query name or id of a query, and then its newest run, or the id of a run
   * @throws IllegalArgumentException when there is no such query, or no batch of it has ended yet
   */
  def historyJson(session: SparkSession, query: String, limit: Int): String = {
    val tracker = LatencyTracker.of(session.sparkContext)
    tracker.settle()
    val batches = tracker.history(query, limit).getOrElse(
      throw new IllegalArgumentException(LatencyJson.noFigures(query, tracker.queryNames))
    )
    LatencyJson.history(batches).toString
  }
}
