package io.sparklatency.figures

/** How figures are kept: the window of gauges, how finely, and for how many nodes (and as many tasks) of a process. */
final case class FiguresSettings(
    window: WindowSettings = WindowSettings(),
    granularity: Granularity = Granularity.Operator,
    maxNodes: Int = FiguresSettings.MaxNodes
)

object FiguresSettings {
  val MaxNodes = 1000
}

/** `samples` × `sampleMs` milliseconds is what a window covers. Kafka's default is two samples of 30 seconds. */
final case class WindowSettings(samples: Int = 2, sampleMs: Long = 30000) {
  def ms: Long = samples * sampleMs
}
