package io.sparklatency.figures

/**
 * One figure of a watermark; a gauge. [[Metric.ofWatermarks]] is the list of them.
 *
 * @param field  in JSON: what a batch knew of it at its commit
 * @param column in SQL: the figure itself
 * @param read   from the watermark in its query; none where it is unknown
 */
final case class WatermarkMetric(
    name: String,
    field: String,
    column: String,
    unit: Metric.Unit,
    help: String
)(
    val read: (QuerySnapshot, SourceWatermark) => Option[Long]
) {

  /** As JMX shows it; what is unknown is NaN. */
  def value(query: Option[QuerySnapshot], key: WatermarkKey): AnyRef = {
    val found =
      for (of <- query; watermark <- of.watermarksByKey.find(_.key == key); value <- read(of, watermark))
        yield value.toDouble
    Double.box(found.getOrElse(Double.NaN))
  }

  def series: String = {
    val name = Metric.inPrometheus(this.name)
    if (unit == Metric.Milliseconds) s"${name}_seconds" else name
  }
}
