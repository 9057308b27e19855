package org.apache.spark.sql.latency.application

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.latency.compat.Dataset
import org.apache.spark.sql.latency.marking.SystemTimeWatermark
import org.apache.spark.sql.latency.marking.WatermarkIdleTimeout
import org.apache.spark.sql.latency.marking.WatermarkLag
import org.apache.spark.sql.latency.marking.WatermarkedColumn
import org.apache.spark.sql.latency.planning.SystemTimeQueries
import org.apache.spark.sql.latency.planning.SystemTimeWatermarkStrategy
import org.apache.spark.sql.{Dataset => AnyDataset}

/**
 * Gives Datasets a system-time watermark, or an idle timeout to the one that they have, for the façades. The jar alone is enough:
 * the first call in a session adds what plans and moves it. A user's mistake fails here, with an IllegalArgumentException that names the remedy.
 *
 * Costs one analysis of the Dataset, and nothing per record. Called in the user's thread.
 */
object DatasetWatermarks {

  /** `dataset` with this timeout at its watermark, or `dataset` itself if it is not a stream. */
  def idleTimeout[T](dataset: AnyDataset[T], timeout: String): AnyDataset[T] = dataset match {
    case classic: Dataset[T @unchecked] =>
      val child = classic.queryExecution.analyzed
      val timed = WatermarkIdleTimeout.on(child, timeout)
      SystemTimeQueries.listenIn(classic.sparkSession, LatencyApplication)
      if (timed eq child) dataset else Dataset.ofRows(classic.sparkSession, timed).as(classic.encoder)
    case _ => throw new IllegalArgumentException(
        s"${dataset.getClass.getName} has no plan to put a timeout in here; under Spark Connect use " +
          s"dataset.hint(\"IDLE_TIMEOUT\", \"${Readable.name(timeout)}\") on a server whose class path has sparklatency"
      )
  }

  /** `dataset` with the watermark, or `dataset` itself if it is not a stream. */
  def systemTime[T](dataset: AnyDataset[T], column: String, lag: String): AnyDataset[T] = dataset match {
    case classic: Dataset[T @unchecked] =>
      val session = classic.sparkSession
      val read = WatermarkLag.of(lag)
      LatencyConf(session).watermarkInterval // a bad one would keep the watermark where it is
      val child = classic.queryExecution.analyzed
      val watermarked =
        SystemTimeWatermark.on(child, WatermarkedColumn.of(child, column, session.sessionState.conf), read)
      SessionStrategies.add(session, SystemTimeWatermarkStrategy)
      SystemTimeQueries.listenIn(session, LatencyApplication)
      if (watermarked eq child) dataset else Dataset.ofRows(session, watermarked).as(classic.encoder)
    case _ => throw new IllegalArgumentException(
        s"${dataset.getClass.getName} has no plan to put a watermark in here; under Spark Connect use " +
          s"dataset.hint(\"SYSTEM_TIME_WATERMARK\", \"${Readable.name(column)}\", \"${Readable.name(lag)}\") on a server whose " +
          "class path has sparklatency"
      )
  }
}
