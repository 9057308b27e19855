package io.sparklatency.spark

import io.sparklatency.spark.base.RecordTimestamp
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.latency.application.DatasetMarks
import org.apache.spark.sql.latency.application.DatasetWatermarks

/** `import io.sparklatency.spark.syntax._` and every Dataset can be marked. Called in the user's thread. */
object syntax {

  /** Adds the methods to Dataset. A call costs one analysis of the Dataset. The wrapper itself is no object at run time. */
  implicit final class E2ELatencySyntax[T](private val dataset: Dataset[T]) extends AnyVal {

    /**
     * Marks this point of the plan as the node `nodeId`. Rows pass unchanged, and the end-to-end latency of each is taken:
     * the wall clock when it leaves this point, minus its timestamp, in milliseconds. That costs 2 to 3 ns a record as a rule.
     *
     * The optimizer moves nothing across a mark, so place it after the filters that should reach the source.
     *
     * @param nodeId    unique within the query, 1 to 256 characters
     * @param timestamp a column name or Column of type TIMESTAMP or TIMESTAMP_NTZ, or a window (its end is taken); by default
     *                  the one column that has a watermark
     * @param level     INFO, DEBUG or TRACE; the node is left out where `spark.sparklatency.recording.level` is below it
     * @throws IllegalArgumentException when the id, the timestamp or the level will not do, with the remedy
     */
    def withE2ELatency(
        nodeId: String,
        timestamp: RecordTimestamp = RecordTimestamp.Watermarked,
        level: String = "INFO"
    ): Dataset[T] = DatasetMarks.mark(dataset, nodeId, timestamp, level)

    /**
     * Gives each record one more column: the time at which it is read, of type TIMESTAMP, by the clock that marks use. Put it right
     * on a source. It may be the timestamp of a node and have a watermark. It costs a look at the row clock, and nothing where nobody
     * reads the column.
     *
     * A batch that is run again stamps its records again.
     *
     * @throws IllegalArgumentException when the name is empty or taken
     */
    def withIngestionTimestamp(column: String = "ingestion_time"): DataFrame =
      DatasetMarks.stamp(dataset, column)

    /**
     * A watermark on `column` that trails the clock by `lag`, whether records arrive or not: windows close though no event
     * comes. It takes the place of `withWatermark`. Rows pass unchanged and cost nothing. Filters behind it still reach
     * the source.
     *
     * @param column the name of a column of type TIMESTAMP, or of a window
     * @param lag    an interval such as `10 seconds`; a record that comes later than that may be dropped
     * @throws IllegalArgumentException when the column or the lag will not do, or there is a watermark already
     */
    def withSystemTimeWatermark(column: String, lag: String): Dataset[T] =
      DatasetWatermarks.systemTime(dataset, column, lag)

    /**
     * Of several sources this one no longer holds the others back when it has been silent for `timeout`, until it has a record again.
     * Call it after `withWatermark`. For all sources of a query alike there is `spark.sparklatency.watermark.idle.timeout`.
     *
     * @param timeout an interval such as `5 minutes`
     * @throws IllegalArgumentException when the timeout will not do, or there is no watermark that waits for records
     */
    def withIdleTimeout(timeout: String): Dataset[T] = DatasetWatermarks.idleTimeout(dataset, timeout)
  }
}
