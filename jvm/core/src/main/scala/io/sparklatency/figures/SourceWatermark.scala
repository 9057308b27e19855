package io.sparklatency.figures

/**
 * The watermark of one watermarked column.
 *
 * @param source      what it comes from, `kafka[orders]` say
 * @param delayMs     the delay that `withWatermark` was given, or the lag of a system-time watermark
 * @param watermarkMs the greatest event time seen by this run, or the time of the clock, less the delay; none before there was
 *                    one
 * @param holdsBack   whether the query's watermark is this one
 * @param kind        what it goes by
 * @param idleSinceMs when its last record was seen, of a source that has been silent for so long that it holds nobody back
 */
final case class SourceWatermark(
    source: String,
    column: String,
    delayMs: Long,
    watermarkMs: Option[Long],
    holdsBack: Boolean,
    kind: WatermarkKind = WatermarkKind.EventTime,
    idleSinceMs: Option[Long] = None
) {

  def isIdle: Boolean = idleSinceMs.nonEmpty

  def key: WatermarkKey = WatermarkKey(source, column, kind)

  /** The greatest event time seen by this run, or the time of the clock. */
  def newestMs: Option[Long] = watermarkMs.map(_ + delayMs)

  /** This watermark when a batch has seen event times up to `greatestMs`. Like Spark's own, it never goes back. */
  def advanced(greatestMs: Option[Long]): SourceWatermark =
    copy(watermarkMs = (watermarkMs ++ greatestMs.map(_ - delayMs)).maxOption)
}

object SourceWatermark {

  /**
   * Marks those that hold the query's watermark back: by Spark's policy `min` the least of all, by `max` the greatest. Spark
   * takes a column that has seen nothing yet for the least. An idle source holds back only if all are idle.
   */
  def heldBack(watermarks: Seq[SourceWatermark], policyIsMax: Boolean): Seq[SourceWatermark] = {
    def time(watermark: SourceWatermark) = watermark.watermarkMs.getOrElse(0L)
    val holder = WatermarkPolicy.chosen(watermarks.map(time), watermarks.map(_.isIdle), policyIsMax)
    val allIdle = watermarks.forall(_.isIdle)
    watermarks.map(watermark =>
      watermark.copy(holdsBack =
        (policyIsMax || allIdle || !watermark.isIdle) && holder.contains(time(watermark))
      )
    )
  }
}
