package io.sparklatency

/**
 * The running figures of one node: cumulative counters, and a window for what must forget. Written by whatever finishes a task
 * or a batch and read by gauges, from any thread.
 */
final class NodeFigures(clock: Clock, settings: WindowSettings) {
  private val window = new LatencyWindow(settings.samples, settings.sampleMs)
  private var records = 0L
  private var withoutTimestamp = 0L
  private var aheadOfClock = 0L

  def add(summary: LatencySummary): Unit = synchronized {
    records += summary.records
    withoutTimestamp += summary.withoutTimestamp
    aheadOfClock += summary.aheadOfClock
    window.record(summary, clock.millis())
  }

  def snapshot(): NodeSnapshot = synchronized {
    NodeSnapshot(records, withoutTimestamp, aheadOfClock, window.measure(clock.millis()))
  }
}

/** `samples` × `sampleMs` milliseconds is what a window covers. Kafka's default is two samples of 30 seconds. */
final case class WindowSettings(samples: Int = 2, sampleMs: Long = 30000)

/**
 * A node's figures at one instant.
 *
 * @param records          records that ever passed the node
 * @param withoutTimestamp those among them with no timestamp, or one before the epoch
 * @param aheadOfClock     those among them with a timestamp in the future
 * @param window           the records of the last window
 */
final case class NodeSnapshot(
    records: Long,
    withoutTimestamp: Long,
    aheadOfClock: Long,
    window: LatencySummary
)
