package org.apache.spark.sql.latency.history

import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkerSnapshot
import io.sparklatency.figures.MarkersSnapshot
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.recording.LatencySummary
import org.apache.spark.sql.latency.StoredMarkers

/** The latency markers of a run when its last batch was committed, in Spark's store: a [[MarkersSnapshot]]. Immutable. */
private[latency] final case class StoredRunMarkers(
    intervalMs: java.lang.Long,
    granularity: String,
    count: Long,
    markedMs: java.lang.Long,
    folded: Int,
    of: Array[StoredRunMarker]
) {
  def snapshot: MarkersSnapshot = MarkersSnapshot(
    StoredMarkers.settings(intervalMs, granularity),
    count,
    Option(markedMs).map(_.toLong),
    of.toSeq.map(_.snapshot),
    folded
  )
}

private[latency] object StoredRunMarkers {
  def apply(markers: MarkersSnapshot): StoredRunMarkers = StoredRunMarkers(
    markers.settings.intervalMs.map(Long.box).orNull,
    markers.settings.granularity.name,
    markers.count,
    markers.markedMs.map(Long.box).orNull,
    markers.folded,
    markers.of.toArray.map(StoredRunMarker(_))
  )
}

/** A [[MarkerSnapshot]] in Spark's store. */
private[latency] final case class StoredRunMarker(
    source: String,
    operator: String,
    total: Array[Byte],
    window: Array[Byte],
    last: Array[Byte],
    lastMs: Long
) {
  def snapshot: MarkerSnapshot = {
    val all = LatencySummary.fromBytes(total)
    MarkerSnapshot(
      MarkerKey(Option(source), None, operator, None),
      MeasureSnapshot(all, LatencySummary.fromBytes(window), all),
      LatencySummary.fromBytes(last),
      lastMs
    )
  }
}

private[latency] object StoredRunMarker {
  def apply(marker: MarkerSnapshot): StoredRunMarker = StoredRunMarker(
    marker.key.source.orNull,
    marker.key.operator,
    marker.figures.total.toBytes,
    marker.figures.window.toBytes,
    marker.last.toBytes,
    marker.lastMs
  )
}
