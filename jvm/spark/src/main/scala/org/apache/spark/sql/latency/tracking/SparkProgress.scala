package org.apache.spark.sql.latency.tracking

import java.time.Instant

import scala.jdk.CollectionConverters._

import io.sparklatency.figures.Phase
import org.apache.spark.sql.streaming.StreamingQueryProgress

/** What Spark's progress says of a trigger, as numbers. Reads it at each call. For any thread. */
private[latency] final class SparkProgress(progress: StreamingQueryProgress) {
  def startMs: Long = Instant.parse(progress.timestamp).toEpochMilli

  /** How long each phase took that it had. */
  lazy val durationsMs: Map[String, Long] = progress.durationMs.asScala.view.mapValues(_.toLong).toMap

  /** How long all of it took. */
  def tookMs: Option[Long] = durationsMs.get(Phase.Whole)

  /** None before the first. */
  def watermarkMs: Option[Long] =
    Option(progress.eventTime.get("watermark")).map(Instant.parse(_).toEpochMilli).filter(_ > 0)

  /** How many rows its operators have dropped as late. */
  def droppedLate: Long = progress.stateOperators.map(_.numRowsDroppedByWatermark).sum
}
