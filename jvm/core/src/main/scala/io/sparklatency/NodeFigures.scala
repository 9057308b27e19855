package io.sparklatency

/**
 * The running figures of one measure of one node: cumulative counters, and a window for what must forget. Written by whatever finishes a task
 * or a batch and read by gauges, from any thread.
 */
final class NodeFigures(clock: Clock, settings: WindowSettings) {
  private val window = new LatencyWindow(settings.samples, settings.sampleMs)
  private var counted = LatencyCounts.none
  private var running = Map.empty[Long, LatencyCounts]

  /** What a task that has ended recorded. */
  def add(summary: LatencySummary): Unit = add(summary, summary)

  /** The same, where all but `rest` of it is in the window already, as the task published it. */
  def add(summary: LatencySummary, rest: LatencySummary): Unit = synchronized {
    counted += LatencyCounts.of(summary)
    if (!rest.isEmpty) window.record(rest, clock.millis())
  }

  /** What a running task has published since it last did. It counts as long as [[forget]] is not told otherwise. */
  def publish(task: Long, part: LatencySummary): Unit = synchronized {
    running += task -> (running.getOrElse(task, LatencyCounts.none) + LatencyCounts.of(part))
    window.record(part, clock.millis())
  }

  def hasPublished(task: Long): Boolean = synchronized(running.contains(task))

  /** The counts of a task do not stand: it failed, or they come with the whole of it. */
  def forget(task: Long): Unit = synchronized(running -= task)

  /** The counts of a task stand, although it will never give them as a whole. */
  def keep(task: Long): Unit = synchronized {
    running.get(task).foreach(counted += _)
    running -= task
  }

  def snapshot(): NodeSnapshot = synchronized {
    val all = running.values.foldLeft(counted)(_ + _)
    NodeSnapshot(all.records, all.withoutTimestamp, all.aheadOfClock, window.measure(clock.millis()))
  }
}

/** What only grows. */
private final case class LatencyCounts(records: Long, withoutTimestamp: Long, aheadOfClock: Long) {
  def +(other: LatencyCounts): LatencyCounts = LatencyCounts(
    records + other.records,
    withoutTimestamp + other.withoutTimestamp,
    aheadOfClock + other.aheadOfClock
  )
}

private object LatencyCounts {
  val none: LatencyCounts = LatencyCounts(0, 0, 0)
  def of(summary: LatencySummary): LatencyCounts =
    LatencyCounts(summary.records, summary.withoutTimestamp, summary.aheadOfClock)
}

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
final case class WindowSettings(samples: Int = 2, sampleMs: Long = 30000)

/**
 * The figures of one measure of a node at one instant.
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

object NodeSnapshot {
  val empty: NodeSnapshot = of(LatencySummary.empty)

  /** The figures of some records and no others. */
  def of(records: LatencySummary): NodeSnapshot =
    NodeSnapshot(records.records, records.withoutTimestamp, records.aheadOfClock, records)
}
