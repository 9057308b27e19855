package io.sparklatency.figures

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary

/**
 * What one attempt at a task recorded while it read a partition of a node once. A driver keeps many of these, so nothing that
 * follows from the rest is in it.
 *
 * @param planning the id of the accumulator that brought it
 * @param number   which reading of that task's it is
 * @param rest     what of it the task had not published while it ran
 * @param ages     of the same records, where the node is one at the end of a query
 * @param slice    when the node was at work
 */
final case class Reading(
    partition: Int,
    attempt: TaskAttempt,
    planning: Long,
    number: Int,
    summary: LatencySummary,
    rest: LatencySummary,
    ages: Option[Ages] = None,
    slice: TaskSlice = TaskSlice.Unwatched
) {
  def id: ReadingId = ReadingId(planning, attempt.id, number)
}
