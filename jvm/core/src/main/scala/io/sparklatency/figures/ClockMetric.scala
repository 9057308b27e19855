package io.sparklatency.figures

import io.sparklatency.time.ClockOffset

/**
 * One figure of an executor's clock, in milliseconds; a gauge. [[Metric.ofClocks]] is the list of them.
 *
 * @param field in JSON
 * @param ms    the value
 */
final case class ClockMetric(name: String, field: String, help: String)(val ms: ClockOffset => Double) {

  /** As JMX shows it; what is unknown is NaN. */
  def value(offset: Option[ClockOffset]): AnyRef = Double.box(offset.fold(Double.NaN)(ms))

  def series: String = s"${Metric.inPrometheus(name)}_seconds"
}
