package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * The latency markers of a run at one instant.
 *
 * @param count    how many were marked and committed since the run began: one for each source subtask of a batch that carries them
 * @param markedMs when those of the last such batch were marked
 * @param of       in plan order, upstream first, the commit last
 * @param folded   how many histograms were too many and are in `__other__`
 */
final case class MarkersSnapshot(
    settings: MarkerSettings,
    count: Long,
    markedMs: Option[Long],
    of: Seq[MarkerSnapshot],
    folded: Int
)

/**
 * @param figures of the window, and of all since the run began
 * @param last    of the last batch whose markers came so far
 * @param lastMs  when that was committed
 */
final case class MarkerSnapshot(
    key: MarkerKey,
    figures: MeasureSnapshot,
    last: LatencySummary,
    lastMs: Long
) {

  /** Of the window; where none came within it, of the last batch. Then [[isQuiet]]. */
  def latest: LatencySummary = if (isQuiet) last else figures.window
  def isQuiet: Boolean = figures.window.count == 0
}
