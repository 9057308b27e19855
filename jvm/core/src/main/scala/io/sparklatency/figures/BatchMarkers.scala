package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * The latency markers that a batch carried, as its event has them. The partitions of a source and an operator are together, so an event
 * grows with nodes and not with partitions.
 *
 * @param count    how many were marked
 * @param markedMs when they were
 * @param of       by name of source and operator
 */
final case class BatchMarkers(
    settings: MarkerSettings,
    count: Int,
    markedMs: Long,
    of: Seq[(MarkerKey, LatencySummary)]
)
