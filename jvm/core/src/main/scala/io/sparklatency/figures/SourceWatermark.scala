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
 */
final case class SourceWatermark(
    source: String,
    column: String,
    delayMs: Long,
    watermarkMs: Option[Long],
    holdsBack: Boolean,
    kind: WatermarkKind = WatermarkKind.EventTime
) {

  /** The greatest event time seen by this run, or the time of the clock. */
  def newestMs: Option[Long] = watermarkMs.map(_ + delayMs)

  /** This watermark when a batch has seen event times up to `greatestMs`. Like Spark's own, it never goes back. */
  def advanced(greatestMs: Option[Long]): SourceWatermark =
    copy(watermarkMs = (watermarkMs ++ greatestMs.map(_ - delayMs)).maxOption)
}

object SourceWatermark {

  /**
   * Marks those that hold the query's watermark back: by Spark's policy `min` the least of all, by `max` the greatest. Spark
   * takes a column that has seen nothing yet for the least.
   */
  def heldBack(watermarks: Seq[SourceWatermark], policyIsMax: Boolean): Seq[SourceWatermark] = {
    def time(watermark: SourceWatermark) = watermark.watermarkMs.getOrElse(0L)
    val holder = if (policyIsMax) watermarks.map(time).maxOption else watermarks.map(time).minOption
    watermarks.map(watermark => watermark.copy(holdsBack = holder.contains(time(watermark))))
  }
}
