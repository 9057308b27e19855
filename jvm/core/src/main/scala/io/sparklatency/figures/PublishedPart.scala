package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * What a running task has recorded since it published last.
 *
 * @param endless  the task belongs to no batch: it runs as long as its query
 * @param oldestMs the timestamp of the oldest of these records
 * @param task     none where it is not known: where tasks are not shown one by one
 * @param intake   by which way it came to the node: see [[MarkReadings]]
 */
final case class PublishedPart(
    owner: MarkOwner,
    reading: ReadingId,
    endless: Boolean,
    summary: LatencySummary,
    oldestMs: Option[Long],
    task: Option[TaskPlace] = None,
    intake: Int = 0
)
