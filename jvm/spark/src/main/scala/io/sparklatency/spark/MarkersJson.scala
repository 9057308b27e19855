package io.sparklatency.spark

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.answer.Markers
import io.sparklatency.figures.BatchMarkers
import io.sparklatency.figures.MarkerSnapshot
import io.sparklatency.figures.MarkersSnapshot
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.Metric

/**
 * Latency markers as JSON, by the names that Flink gives them: durations in milliseconds, times in milliseconds since the epoch, `null`
 * where unknown. Without state, for any thread.
 */
private[spark] object MarkersJson {

  /** `null` where a query has none. */
  def put(json: ObjectNode, markers: Option[MarkersSnapshot]): Unit = markers match {
    case None => json.putNull("markers"): Unit
    case Some(markers) => put(json.putObject("markers"), markers)
  }

  /** Those that a batch carried, of all partitions together; `null` where it carried none. */
  def putOfBatch(json: ObjectNode, markers: Option[BatchMarkers]): Unit = markers match {
    case None => json.putNull("markers"): Unit
    case Some(markers) =>
      val one = json.putObject("markers").put("count", markers.count).put("marked", markers.markedMs)
      JsonFields.putEach(one, "of", markers.of) { case (of, (key, same)) =>
        of.put("source_id", key.source.orNull).put("operator_id", key.operator)
        LatencyJson.putMetrics(of.putObject("latency"), Metric.ofMarkers, MeasureSnapshot.of(same))
      }
  }

  private def put(json: ObjectNode, markers: MarkersSnapshot): Unit = {
    JsonFields.putLong(json, "interval", markers.settings.intervalMs)
    json.put("granularity", markers.settings.granularity.name).put("count", markers.count)
    JsonFields.putLong(json, "marked", markers.markedMs)
    json.put("folded", markers.folded).put("text", Markers.text(markers))
    JsonFields.putEach(json, "of", markers.of)(putMarker)
  }

  private def putMarker(json: ObjectNode, marker: MarkerSnapshot): Unit = {
    val key = marker.key
    json.put("source_id", key.source.orNull)
    json.put("source_subtask_index", key.sourceSubtask.map(Int.box).orNull)
    json.put("operator_id", key.operator)
    json.put("operator_subtask_index", key.operatorSubtask.map(Int.box).orNull)
    LatencyJson.putMetrics(json.putObject("latency"), Metric.ofMarkers, marker.figures)
    json.put("quiet", marker.isQuiet)
    LatencyJson.putMetrics(json.putObject("last"), Metric.ofMarkers, MeasureSnapshot.of(marker.last))
    json.put("lastCommitted", marker.lastMs)
    ()
  }
}
