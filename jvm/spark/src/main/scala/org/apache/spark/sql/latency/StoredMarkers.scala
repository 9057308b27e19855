package org.apache.spark.sql.latency

import com.fasterxml.jackson.annotation.JsonInclude
import io.sparklatency.figures.BatchMarkers
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.recording.LatencySummary

/**
 * The latency markers that a batch carried, in its event: a [[BatchMarkers]] in types that Jackson reads as it wrote them. From about a
 * hundred bytes for each source and operator. Immutable: nobody may change its arrays. Its field names stand in event logs.
 */
final case class StoredMarkers(
    intervalMs: java.lang.Long,
    granularity: String,
    count: Int,
    markedMs: Long,
    of: Array[StoredMarker]
) {
  def markers: BatchMarkers = BatchMarkers(
    StoredMarkers.settings(intervalMs, granularity),
    count,
    markedMs,
    of.toSeq.map(one => one.key -> LatencySummary.fromBytes(one.latency))
  )
}

/** Writes markers as an event has them. */
object StoredMarkers {
  def apply(markers: BatchMarkers): StoredMarkers = StoredMarkers(
    markers.settings.intervalMs.map(Long.box).orNull,
    markers.settings.granularity.name,
    markers.count,
    markers.markedMs,
    markers.of.toArray.map { case (key, latency) =>
      StoredMarker(key.source.orNull, key.operator, latency.toBytes)
    }
  )

  private[latency] def settings(intervalMs: java.lang.Long, granularity: String): MarkerSettings =
    MarkerSettings(
      Option(intervalMs).map(_.toLong),
      Granularity.all.find(_.name == granularity).getOrElse(MarkerSettings.Off.granularity)
    )
}

/** How long they took from a source to an operator, in an event. */
final case class StoredMarker(
    @JsonInclude(JsonInclude.Include.NON_NULL) source: String,
    operator: String,
    latency: Array[Byte]
) {
  def key: MarkerKey = MarkerKey(Option(source), None, operator, None)
}
