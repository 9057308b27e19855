package org.apache.spark.sql.latency.tracking

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.figures.Activity
import org.apache.spark.sql.latency.planning.RecordSource
import org.apache.spark.sql.streaming.SourceProgress
import org.apache.spark.sql.streaming.StreamingQueryProgress

/**
 * How many records a trigger left at its sources. Only a source knows whether its offsets count records: Kafka's and those made like it say
 * by a metric how far the last partition is behind. How many that is in all is between the offsets, if these say the same as the metric.
 *
 * A call reads the offsets of each such source that is behind. Without state, for any thread.
 */
private[tracking] object RecordsLeft {
  private val Most = "maxOffsetsBehindLatest"
  private val json = new ObjectMapper

  /** One of each source that tells. A source that is read twice is told once, with the records of both. */
  def by(progress: StreamingQueryProgress): Seq[Activity.Left] = {
    val left = progress.sources.toSeq.flatMap(source =>
      Try(behind(source)).toOption.flatten.map(RecordSource.named(source.description) -> _)
    )
    left.map { case (source, _) => source }.distinct.map(source =>
      Activity.Left(source, left.collect { case (`source`, records) => records }.sum)
    )
  }

  private def behind(source: SourceProgress): Option[Long] =
    Option(source.metrics.get(Most)).map(_.toLong).flatMap {
      case most if most <= 0 => Some(0)
      case most =>
        val (latest, end) = (numbers(source.latestOffset), numbers(source.endOffset))
        // Of a partition that is new nothing was read.
        val each = latest.map { case (partition, offset) => offset - end.getOrElse(partition, 0L) }
        Option.when(each.nonEmpty && each.max == most)(each.filter(_ > 0).sum)
    }

  /** By partition, whatever the source names these after. */
  private def numbers(offset: String): Map[String, Long] = {
    def in(place: String, node: JsonNode): Seq[(String, Long)] =
      if (node.isIntegralNumber) Seq(place -> node.asLong)
      else node.fieldNames.asScala.toSeq.flatMap(name => in(s"$place/$name", node.get(name)))
    in("", json.readTree(offset)).toMap
  }
}
