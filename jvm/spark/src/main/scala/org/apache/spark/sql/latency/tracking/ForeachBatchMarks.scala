package org.apache.spark.sql.latency.tracking

import io.sparklatency.figures.HeldActions
import io.sparklatency.figures.Measure

/**
 * The marks of the actions inside the foreachBatch of one run, until their batch ends. Where several actions run one node,
 * one of them stands: see [[HeldActions]].
 *
 * Keeps the accumulators of one batch alive, about 300 bytes a partition and mark. Costs a look at the marks for each action.
 * Not thread-safe: only the listener's thread uses it.
 */
private[latency] final class ForeachBatchMarks {
  private val held =
    new HeldActions[ExecutedMark](mark => mark.node -> mark.measure, ForeachBatchMarks.records)

  /** Keeps the marks of an action. Gives back those that do not stand. */
  def hold(marks: Seq[ExecutedMark]): Seq[ExecutedMark] = held.hold(marks)

  /** Whether it stands so far. */
  def holds(mark: ExecutedMark): Boolean = held.holds(mark)

  /**
   * Gives out what was kept. Where the rows of foreachBatch's DataFrame come to an action's mark with no other on their way, the ends of
   * the batch's own plan (`own`) stand before it: they have come through them. A table that the action reads has not, nor has one that the
   * stream is joined or compared with.
   */
  def release(own: Seq[ExecutedMark]): Seq[ExecutedMark] = {
    val ends = own.filter(mark => mark.measure == Measure.E2ELatency && mark.isLast).map(_.node).toSet
    held.release().map(mark =>
      if (mark.begins) mark.copy(upstream = mark.upstream ++ (ends - mark.node)) else mark
    )
  }
}

private[tracking] object ForeachBatchMarks {

  /** Of the plannings of one node by one action, as `MarkReadings.standing` has it. */
  private def records(marks: Seq[ExecutedMark]): Long =
    marks.groupBy(_.figures.intake).values.map(_.map(_.records).max).sum
}
