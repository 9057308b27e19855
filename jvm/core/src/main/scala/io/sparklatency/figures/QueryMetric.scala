package io.sparklatency.figures

/**
 * One figure of a query as a whole. [[Metric.ofQueries]] is the list of them; beside it
 * `Parts.metrics` has those that only JMX and Dropwizard show.
 *
 * @param field in JSON
 * @param read  none where it is unknown
 */
final case class QueryMetric(
    name: String,
    field: String,
    help: String,
    unit: Metric.Unit = Metric.Milliseconds,
    kind: Metric.Kind = Metric.Gauge
)(val read: QuerySnapshot => Option[Long]) {

  /** As JMX shows it; what is unknown is NaN. */
  def value(query: Option[QuerySnapshot]): AnyRef =
    Double.box(query.flatMap(read).fold(Double.NaN)(_.toDouble))

  def series: String = {
    val suffix = if (kind == Metric.Counter) "_total" else if (unit == Metric.Milliseconds) "_seconds" else ""
    s"${Metric.inPrometheus(name)}$suffix"
  }
}
