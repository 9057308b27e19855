package io.sparklatency.figures

import scala.collection.mutable

import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset

/**
 * The latency markers of one run of a query. The first batch of each interval carries them, by the time at which its sources began to
 * read. Intervals begin at multiples of their length since the epoch, as triggers do: under a trigger of the interval each batch has them,
 * though none begins to read exactly an interval after the one before. Not thread-safe.
 *
 * Where markers are off it keeps nothing, and does nothing but look at the setting.
 */
private final class RunMarkers(make: FiguresMaker) {
  private var settings = MarkerSettings.Off
  private val figures = mutable.LinkedHashMap.empty[MarkerKey, Histogram]
  private val folded = new Distinct
  private val windows = new MarkerWindows
  private var markedByTask = Map.empty[Long, Long]
  private var markedMs = Option.empty[Long]
  private var count = 0L

  def size: Int = figures.size

  /** A plan of the query is about to run. */
  def planned(nodes: Seq[PlannedNode]): Unit = nodes.lastOption.foreach(node => settings = node.markers)

  /**
   * The markers of a batch of which this stands; none where it carries none.
   *
   * @param upstream ids of the nodes whose records come to a node next
   */
  def of(
      marks: Seq[MarkReadings],
      upstream: String => Seq[String],
      offset: String => Option[ClockOffset]
  ): Option[MarkerPasses] =
    settings.intervalMs.flatMap { interval =>
      val passes = new MarkerPasses(marks, upstream, offset)
      passes.markedMs.filter(isDue(_, markedMs, interval)).map { ms =>
        markedMs = Some(ms)
        passes
      }
    }

  /** A clock that was set back makes one due. */
  private def isDue(ms: Long, markedMs: Option[Long], interval: Long): Boolean =
    markedMs.forall(before => Math.floorDiv(ms, interval) > Math.floorDiv(before, interval) || ms < before)

  /** Their batch is committed. Gives what its event has of them. */
  def committed(passes: MarkerPasses, atMs: Long): BatchMarkers = {
    count += passes.count
    val passed = passes.latencies(settings.granularity, atMs).toSeq
      .groupMap { case (key, _) => of(key) } { case (_, one) => one }
      .map { case (histogram, same) => histogram -> LatencySummary.merge(same) }
    for ((histogram, one) <- passed) histogram.add(one, atMs)
    val together = passed.toSeq.groupMap { case (histogram, _) => histogram.key.ofAllSubtasks } {
      case (_, one) => one
    }
    BatchMarkers(
      settings,
      passes.count,
      passes.markedMs.getOrElse(atMs),
      together.toSeq.map { case (key, same) => key -> LatencySummary.merge(same) }
        .sortBy { case (key, _) => (key.source, key.operator) }
    )
  }

  /** Those of a batch that was committed, as its event tells. */
  def replay(batch: BatchMarkers, atMs: Long): Unit = {
    settings = batch.settings
    count += batch.count
    markedMs = Some(batch.markedMs)
    for ((key, same) <- batch.of) of(key).add(same, atMs)
  }

  /**
   * A task tells what it did, where no batch ends. A second of it stands for a marker, when the interval has passed.
   *
   * @param node     the id of a planned node
   * @param isSource whether no node is before one
   */
  def report(
      report: TaskReport,
      nowMs: Long,
      node: Long => Option[String],
      isSource: String => Boolean
  ): Unit =
    for (interval <- settings.intervalMs) {
      val passes = windows.report(report, node, isSource)
      val task = report.attempt.id
      if (passes.nonEmpty && isDue(nowMs, markedByTask.get(task), interval)) {
        markedByTask += task -> nowMs
        markedMs = Some(nowMs)
        count += passes.map(pass => pass.way.source -> pass.way.sourceSubtask).distinct.size
        passes.foreach(pass =>
          of(pass.way.key(settings.granularity)).add(MarkerPasses.summary(Seq(pass.ms)), nowMs)
        )
      }
    }

  def taskEnded(task: Long): Unit = {
    windows.taskEnded(task)
    markedByTask -= task
  }

  private def of(key: MarkerKey): Histogram = {
    val shown =
      if (figures.contains(key) || make.hasRoomForMarkers) key
      else {
        folded.add(key.toString)
        MarkerKey.Other
      }
    figures.getOrElseUpdate(shown, new Histogram(shown, make.marker(shown)))
  }

  /**
   * None where they are off.
   *
   * @param order ids of nodes, upstream first
   */
  def snapshot(order: Seq[String]): Option[MarkersSnapshot] = Option.when(settings.isOn) {
    val places = (order :+ MarkerKey.Commit :+ MarkerKey.Other.operator).zipWithIndex.toMap
    val of = figures.toSeq.map { case (key, one) =>
      MarkerSnapshot(key, one.figures.snapshot(), one.last, one.lastMs)
    }
    val sorted = of.sortBy { one =>
      val key = one.key
      (places.getOrElse(key.operator, -1), key.source, key.sourceSubtask, key.operatorSubtask)
    }
    MarkersSnapshot(settings, count, markedMs, sorted, folded.count)
  }

  private final class Histogram(val key: MarkerKey, val figures: LiveFigures) {
    var last: LatencySummary = LatencySummary.empty
    var lastMs = 0L

    def add(latencies: LatencySummary, atMs: Long): Unit = {
      figures.add(latencies)
      last = latencies
      lastMs = atMs
    }
  }
}
