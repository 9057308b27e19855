package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * The figures of one measure of a node at one instant.
 *
 * @param total   the records that ever passed the node
 * @param window  those of the last window
 * @param settled those of `total` that nothing can take back any more, such as the failure of a task that has published them: it
 *                never goes down
 * @param ended   those of `window` that are of batches which have ended, where running tasks have shown others. Of a running batch one
 *                node has shown more than the next
 * @param settledMax the greatest of what `settled` took in within the window: of a batch that is longer the window has lost what
 *                   its tasks had shown first
 */
final case class MeasureSnapshot(
    total: LatencySummary,
    window: LatencySummary,
    settled: LatencySummary,
    ended: Option[LatencySummary] = None,
    settledMax: Option[Long] = None
)

object MeasureSnapshot {
  val empty: MeasureSnapshot = of(LatencySummary.empty)

  /** None of what a node does not measure. An e2e latency every node has, if only of no records. */
  def in(measures: Map[Measure, MeasureSnapshot], measure: Measure): Option[MeasureSnapshot] =
    measures.get(measure).orElse(Option.when(measure == Measure.E2ELatency)(empty))

  /** The figures of some records and no others. */
  def of(records: LatencySummary): MeasureSnapshot = MeasureSnapshot(records, records, records)
}
