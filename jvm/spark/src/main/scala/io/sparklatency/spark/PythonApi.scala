package io.sparklatency.spark

import io.sparklatency.answer.NoFigures
import io.sparklatency.answer.Readable
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.spark.base.RecordTimestamp
import io.sparklatency.spark.base.Version
import org.apache.spark.sql.Column
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.latency.application.DatasetMarks
import org.apache.spark.sql.latency.application.DatasetWatermarks
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.history.LatencyStore

/**
 * All that Python calls. Values cross as strings, plans as they are, and figures as one JSON document.
 *
 * A mark costs one analysis of the DataFrame. Figures wait at most a second for executions that have just ended, then cost
 * one reading of the store. Without state; py4j's threads call it.
 */
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
          s"node '${Readable.name(String.valueOf(nodeId))}': a timestamp is a column name or a Column, not ${other.getClass.getName}"
        )
    }
    DatasetMarks.mark(df, nodeId, recordTimestamp, level)
  }

  def withIngestionTimestamp(df: DataFrame, column: String): DataFrame = DatasetMarks.stamp(df, column)

  def withSystemTimeWatermark(df: DataFrame, column: String, lag: String): DataFrame =
    DatasetWatermarks.systemTime(df, column, lag)

  def withIdleTimeout(df: DataFrame, timeout: String): DataFrame = DatasetWatermarks.idleTimeout(df, timeout)

  /**
   * Figures of a query, or of all, as REST gives them.
   *
   * @param query name or id of a query, and then its newest run, or the id of a run; null for all queries
   * @throws IllegalArgumentException when no such query is known
   */
  def latencyJson(session: SparkSession, query: String): String = {
    val store = settled(session)
    val json =
      if (query == null) LatencyJson.all(store) else LatencyJson.one(store.answer(find(store, query)))
    json.toString
  }

  /**
   * The last batches of a query, as REST gives them.
   *
   * @param query name or id of a query, and then its newest run, or the id of a run
   * @throws IllegalArgumentException when no such query is known
   */
  def historyJson(session: SparkSession, query: String, limit: Int): String = {
    val store = settled(session)
    LatencyJson.history(store.history(find(store, query), limit)).toString
  }

  /** The store when the batches that have ended are in it. */
  private def settled(session: SparkSession): LatencyStore =
    LatencyApplication.running(session.sparkContext).settledStore()

  private def find(store: LatencyStore, query: String): QuerySnapshot =
    store.query(query).getOrElse(throw new IllegalArgumentException(NoFigures.of(query, store.queryNames)))
}
