package io.sparklatency.figures

/**
 * How often the batches of a query carry latency markers, and how finely their figures are kept apart.
 *
 * @param intervalMs  none where there are no markers
 * @param granularity as in Flink: `single` knows no sources, `operator` knows them, `subtask` knows their partitions too. Each knows
 *                    the partitions of operators
 */
final case class MarkerSettings(
    intervalMs: Option[Long] = None,
    granularity: Granularity = Granularity.Operator
) {
  def isOn: Boolean = intervalMs.nonEmpty
}

object MarkerSettings {
  val Off: MarkerSettings = MarkerSettings()
}
