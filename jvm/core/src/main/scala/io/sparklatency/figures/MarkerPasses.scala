package io.sparklatency.figures

import scala.annotation.tailrec
import scala.collection.mutable

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary
import io.sparklatency.recording.LatencyTally
import io.sparklatency.time.ClockOffset

/**
 * The latency markers of one batch: when each was marked, and when it passed each partition of each node. Nothing travels for them. A
 * marker is marked when a task begins to read a partition of a source. It passes a node of that task when no more rows come to the
 * node, which is what operator latency goes by too: blocking operators, and the wait for a slot, are in it.
 *
 * Which way a marker went is known as far as Spark knows it. In the task that reads the source, from partition to partition. Behind a
 * shuffle a task has read of all tasks before it, so the marker of each source subtask passes each of its partitions: the one that
 * comes from them when the last of them is over.
 *
 * Times are whole milliseconds by the driver's clock, as Flink's are. A difference keeps its sign. Costs a few look-ups for each
 * partition of each node, and behind shuffles a summary more; by source subtasks it costs partitions times partitions, as in Flink.
 * Immutable.
 *
 * @param upstream ids of the nodes whose records come to a node next; none of a source
 */
private final class MarkerPasses(
    marks: Seq[MarkReadings],
    upstream: String => Seq[String],
    offset: String => Option[ClockOffset]
) {
  import MarkerPasses._

  private val offsets = mutable.Map.empty[String, Option[ClockOffset]]
  private def offsetOf(executor: String) = offsets.getOrElseUpdate(executor, offset(executor))

  private def in(mark: MarkReadings): Iterable[Stop] = for {
    reading <- mark.readings if mark.measure == Measure.E2ELatency && reading.slice.isWatched
    slice = reading.slice
    attempt = reading.attempt
    clock = offsetOf(slice.executor)
    (began, ended) = (millis(slice.read(clock)), millis(slice.ended(clock)))
  } yield Stop(mark.node, reading.partition, attempt.stage, attempt.id, began, ended)

  private def isSource(node: String) = upstream(node).isEmpty

  // Of a batch that carries no markers no more is looked at than these.
  private val starts: Seq[Stop] = inTasks(marks.filter(mark => isSource(mark.node)).flatMap(in))
  private lazy val startsBySource = starts.groupBy(_.node)
  private lazy val all: Seq[Stop] = inTasks(marks.flatMap(in))
  private lazy val byTask = all.groupBy(_.task)

  /** A node may be planned twice. A marker has passed it when it has passed both. */
  private lazy val stops =
    all.groupBy(stop => stop.node -> stop.partition).values.map(_.maxBy(_.endedMs)).toSeq

  /** When the first of them was marked; none where no source was read. */
  def markedMs: Option[Long] = starts.map(_.beganMs).minOption

  /** How many there are: one for each source subtask. */
  def count: Int = starts.map(start => start.node -> start.partition).distinct.size

  /** How long they took to each partition of each node, and to the commit. */
  def latencies(granularity: Granularity, committedMs: Long): Map[MarkerKey, LatencySummary] = {
    val passed = stops.flatMap(stop => sourcesOf(stop.node).flatMap(passes(_, stop, granularity)))
    val committed = markedFirst(starts).map(start =>
      MarkerKey(granularity, start.node, start.partition, MarkerKey.Commit, None) ->
        single(committedMs - start.beganMs)
    )
    (passed ++ committed).groupMap(_._1)(_._2).map { case (key, same) => key -> LatencySummary.merge(same) }
  }

  private def passes(
      source: String,
      stop: Stop,
      granularity: Granularity
  ): Seq[(MarkerKey, LatencySummary)] = {
    def key(start: Stop) =
      MarkerKey(granularity, source, start.partition, stop.node, Some(stop.partition))
    val here = byTask(stop.task)
    val read = here.filter(_.node == source)
    if (read.nonEmpty)
      read.filter(goesTo(_, stop, here)).map(start => key(start) -> single(stop.endedMs - start.beganMs))
    else if (isOfAnotherSide(source, stop, here)) Nil
    else if (granularity == Granularity.Subtask)
      before(source, stop.stage)._1.map(start => key(start) -> single(stop.endedMs - start.beganMs))
    else {
      val (others, ages) = before(source, stop.stage)
      others.headOption.map(first => key(first) -> Ages.at(stop.endedMs, Seq(ages))).toSeq
    }
  }

  /** Within a task: to the partition of the same number. A node that has none of that number is behind what makes one of several. */
  private def goesTo(start: Stop, stop: Stop, here: Seq[Stop]): Boolean =
    start.partition == stop.partition || stop.node != start.node && {
      val same = here.filter(_.node == stop.node)
      !same.exists(_.partition == start.partition) && same.forall(_.endedMs <= stop.endedMs)
    }

  /** Where some tasks read a source and others none. There a union has a side behind a shuffle. */
  private lazy val unions: Set[(String, Int)] =
    all.groupMap(stop => stop.node -> stop.stage)(stop => readers(stop.task))
      .filter { case (_, reading) => reading.exists(_ != reading.head) }.keySet
  private lazy val readers = starts.map(_.task).toSet

  /** What a broadcast brings stands before a node that all tasks of its own side have. */
  private def isOfAnotherSide(source: String, stop: Stop, here: Seq[Stop]): Boolean =
    readers(stop.task) && unions(stop.node -> stop.stage) &&
      !here.exists(other => !unions(other.node -> other.stage) && sourcesOf(other.node).contains(source))

  /**
   * What a task read that has not read the source itself: it cannot come from another task of its own stage, as of the other side of a
   * union.
   */
  private val beforeStage = mutable.Map.empty[(String, Int), (Seq[Stop], Ages)]
  private def before(source: String, stage: Int): (Seq[Stop], Ages) = beforeStage.getOrElseUpdate(
    source -> stage, {
      val others = markedFirst(startsBySource.getOrElse(source, Nil).filter(_.stage != stage))
      val atMs = others.map(_.beganMs).maxOption.getOrElse(0L)
      others -> Ages(atMs, summary(others.map(atMs - _.beganMs)))
    }
  )

  private val sources = mutable.Map.empty[String, Seq[String]]
  private def sourcesOf(node: String): Seq[String] = sources.getOrElseUpdate(
    node,
    allBefore(Set(node), Set(node)).filter(startsBySource.contains).toSeq.sorted
  )

  @tailrec
  private def allBefore(front: Set[String], seen: Set[String]): Set[String] = {
    val next = front.flatMap(upstream) -- seen
    if (next.isEmpty) seen else allBefore(next, seen ++ next)
  }
}

private object MarkerPasses {

  /** A node while a task read one partition of it. */
  private final case class Stop(
      node: String,
      partition: Int,
      stage: Int,
      task: Long,
      beganMs: Long,
      endedMs: Long
  ) {
    def +(other: Stop): Stop =
      copy(beganMs = beganMs.min(other.beganMs), endedMs = endedMs.max(other.endedMs))
  }

  private def millis(micros: Long): Long = Math.floorDiv(micros, 1000L)

  private def inTasks(stops: Seq[Stop]): Seq[Stop] =
    stops.groupMapReduce(stop => (stop.task, stop.node, stop.partition))(identity)(_ + _).values.toList

  /** A source that is read twice in a batch, as in a self-join, is marked when it is read first. */
  private def markedFirst(starts: Seq[Stop]): Seq[Stop] =
    starts.groupBy(start => start.node -> start.partition).values.map(_.minBy(_.beganMs)).toSeq
      .sortBy(start => (start.node, start.partition))

  private def single(ms: Long): LatencySummary = summary(Seq(ms))

  def summary(all: Seq[Long]): LatencySummary = {
    val tally = new LatencyTally
    all.foreach(tally.add(_, 1))
    if (all.nonEmpty) tally.add(all.min, all.max, all.map(BigInt(_)).sum, all.count(_ < 0).toLong)
    tally.summary()
  }
}
