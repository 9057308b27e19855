package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * How far the records of a batch came behind the newest event time of the batches before it, in milliseconds: what the delay of a
 * watermark is for. Negative where they are newer. Made of the ages that marks at the sources have anyway, so it costs nothing per record.
 * Ages are known within 2 % here. None came further behind than its figure: a delay that is enough by these is enough.
 */
private[figures] object OutOfOrder {

  /**
   * @param ages   of the records that came in, at the time `atMs`
   * @param before the watermarks before the batch
   * @param after  those after it
   * @return none where the query has several watermarks, and where marks measure another time than the one of the watermark
   */
  def of(
      ages: LatencySummary,
      atMs: Long,
      before: Seq[SourceWatermark],
      after: Seq[SourceWatermark]
  ): Option[LatencySummary] = (before, after) match {
    case (Seq(earlier), Seq(now)) if earlier.column == now.column =>
      for {
        newest <- earlier.newestMs
        nowNewest <- now.newestMs
        youngest <- ages.min
        // Spark has seen the same records: if it knows another newest one, that is of another column.
        if ((atMs - youngest).max(newest) - nowNewest).abs <= SameMs && youngest <= precise(now.delayMs)
      } yield LatencySummary.laterAtMost(Seq(ages -> (newest - atMs)))
    case _ => None
  }

  /** Ages are known within 2 %: of older records that is too much of a delay to advise another. */
  private def precise(delayMs: Long): Long = 10 * delayMs.max(1000)

  /** How far clocks may be apart. */
  private val SameMs = 50
}
