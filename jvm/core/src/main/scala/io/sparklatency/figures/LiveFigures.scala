package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.Clock

/**
 * The running figures of one measure of one node: what only grows, and a window for what must forget. Written by whatever
 * finishes a task or a batch and read by gauges, from any thread.
 *
 * @param samples   those of all nodes of the query
 * @param oneCounts whether of several plannings one will count, as [[MarkReadings.standing]] has it: else each belongs to an execution
 *                  of its own, and they add up
 */
final class LiveFigures(clock: Clock, samples: WindowSamples, oneCounts: Boolean = false) {
  private val window = new LatencyWindow(samples)
  private val greatest = new WindowMax(samples) // of what was added
  private var total = LatencySummary.empty
  private var running = Map.empty[ReadingId, Running]
  private var last: Option[(Long, MeasureSnapshot)] = None

  /** What tasks that have ended recorded. */
  def add(summary: LatencySummary): Unit = add(summary, summary, Nil)

  /**
   * The same, all of which but `rest` the `readings` among them have published: that stands where it is in the window. What came of
   * `others` does not.
   */
  def add(
      summary: LatencySummary,
      rest: LatencySummary,
      readings: Iterable[ReadingId],
      others: Iterable[ReadingId] = Nil
  ): Unit = synchronized {
    total += summary
    summary.max.foreach(greatest.record)
    if (running.nonEmpty) {
      readings.flatMap(running.get).foreach(published => window.absorb(published.window))
      running = running -- readings -- others
    }
    if (!rest.isEmpty) window.record(rest)
    changed()
  }

  /**
   * Those of which all but the rest came while their tasks ran, and the others. The end of a task may overtake what it has published.
   */
  def published(readings: Iterable[Reading]): (Iterable[Reading], Iterable[Reading]) = synchronized {
    if (running.isEmpty) (Nil, readings) // as a rule, and there may be thousands
    else readings.partition(reading =>
      running.get(reading.id).exists(_.total.records + reading.rest.records == reading.summary.records)
    )
  }

  /**
   * What a task has published of a reading since it last did. It shows as long as the task does not fail, and its planning has
   * not ended.
   *
   * @param oldestMs the timestamp of the oldest of these records
   * @param endless  the task belongs to no batch, and outlives its planning
   * @param intake   by which way it came to the node
   */
  def publish(
      reading: ReadingId,
      part: LatencySummary,
      oldestMs: Option[Long] = None,
      endless: Boolean = false,
      intake: Int = 0
  ): Unit = synchronized {
    val published = running.getOrElse(reading, new Running(endless, intake))
    published.total += part
    published.window.record(part)
    published.oldestMs = (published.oldestMs ++ oldestMs).minOption
    running += reading -> published
    changed()
  }

  /** What a task has published does not stand: it failed. */
  def forget(task: Long): Unit = drop { case (reading, _) => reading.task == task }

  /** What tasks have published and was not added does not stand: others came in their place, or the execution failed. */
  def ended(plannings: Set[Long]): Unit = drop { case (reading, published) =>
    plannings.contains(reading.planning) && !published.endless
  }

  /** The same of what was planned before: batches follow one another, and of the end of one Spark may have dropped the event. */
  def endedBefore(planning: Long): Unit = drop { case (reading, published) =>
    reading.planning < planning && !published.endless
  }

  /** Whether some of what it shows is of such a reading, and was not added. */
  def isOf(reading: ReadingId => Boolean): Boolean = synchronized(running.keysIterator.exists(reading))

  /** Only what goes changes something: the figures of all queries are told of each end. */
  private def drop(gone: ((ReadingId, Running)) => Boolean): Unit = synchronized {
    val kept = running.filterNot(gone)
    if (kept.size < running.size) {
      running = kept
      changed()
    }
  }

  /** What a task has published stands, although it will never give it as a whole. */
  def keep(task: Long): Unit = synchronized {
    val (kept, others) = running.partition { case (reading, _) => reading.task == task }
    kept.values.foreach { published =>
      total += published.total
      window.absorb(published.window)
    }
    running = others
    changed()
  }

  /** No record that tasks have published and that was not added is known to be older, by its timestamp. */
  def oldestRunning: Option[Long] = synchronized(
    // What belongs to no batch is never committed.
    running.values.filterNot(_.endless).flatMap(_.oldestMs).minOption
  )

  /** Made once for all gauges that are read within a tenth of a second, unless something changes. */
  def snapshot(): MeasureSnapshot = synchronized {
    val now = clock.millis()
    if (!last.exists { case (at, _) => now == at || !clock.readEveryRow && now > at && now - at < 100 })
      last = Some(now -> compute())
    last.get._2
  }

  private def changed(): Unit = last = None

  /**
   * What belongs to no batch, and what does. Of readings of one partition, such as those of two attempts at a task or of two actions on a
   * batch, one shows, for one will count: that which has read most, as in [[Retries]]. So it is with plannings of each way to the node.
   */
  private def showing: (Iterable[Running], Iterable[Running]) = {
    val (endless, others) = running.partition { case (_, published) => published.endless }
    val batches = others.groupMapReduce { case (reading, _) => (reading.planning, reading.partition) } {
      case (_, published) => published
    }((one, other) => if (other.total.records > one.total.records) other else one)
    val plannings = batches.groupMap { case ((planning, _), _) => planning } { case (_, most) => most }.values
    val count =
      if (!oneCounts) plannings
      else plannings.groupBy(_.head.intake).values.map(_.maxBy(_.map(_.total.records).sum))
    (endless.values, count.flatten)
  }

  private def compute(): MeasureSnapshot =
    if (running.isEmpty) MeasureSnapshot(total, window.measure(), total, settledMax = greatest.measure())
    else computeRunning()

  private def computeRunning(): MeasureSnapshot = {
    val (endless, batches) = showing
    val all = LatencySummary.merge(Iterable(total) ++ (endless ++ batches).map(_.total))
    val ended = LatencySummary.merge((Iterable(window) ++ endless.map(_.window)).map(_.measure()))
    val shown = LatencySummary.merge(Iterable(ended) ++ batches.map(_.window.measure()))
    val settled = LatencySummary.merge(Iterable(total) ++ endless.map(_.total))
    MeasureSnapshot(all, shown, settled, Option.when(batches.nonEmpty)(ended), greatest.measure())
  }

  private final class Running(val endless: Boolean, val intake: Int) {
    val window = new LatencyWindow(samples)
    var total: LatencySummary = LatencySummary.empty
    var oldestMs: Option[Long] = None
  }
}
