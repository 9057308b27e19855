package io.sparklatency.figures

/**
 * One figure of the operators at a node, in milliseconds; a gauge. [[Metric.ofOperators]] is the list of them.
 *
 * @param field in JSON
 * @param read  from the operator latency in each of the last batches, oldest first; none where it is unknown
 */
final case class OperatorMetric(name: String, field: String, help: String)(
    val read: Seq[Double] => Option[Double]
) {

  /** As JMX shows it; what is unknown is NaN. */
  def value(batches: Seq[Double]): AnyRef = Double.box(read(batches).getOrElse(Double.NaN))

  def series: String = s"${Metric.inPrometheus(name)}_seconds"
}
