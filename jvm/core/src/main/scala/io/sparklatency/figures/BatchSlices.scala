package io.sparklatency.figures

import scala.annotation.tailrec
import scala.collection.mutable

import io.sparklatency.time.ClockOffset

/**
 * Makes the times of a batch from the slices of its tasks. Nodes go by their place in the batch, so each partition of a node costs a step
 * or two in an array.
 *
 * '''Between stages''' time is exact: a stage begins when those before it are over and its first task asks for a row. '''Within a
 * stage''' a node's part is the share of the looks at its tasks that found rows under way to it, and not to the node before (see
 * `TaskWatch`). That is known where both let the same rows pass, and where the tasks were seen for at least half of their time. Else it is
 * left with the rest of the stage. A stage with no other node is that node's.
 *
 * While a task runs, a row or two may be under way, so it tells only what let the same rows pass but one. An operator that gathers rows,
 * as a Python function does, is known by `same`: whether two nodes let the same rows pass before.
 *
 * Where tasks wait for one another, because more of them are there than can run at once, the task that was over last says what its
 * nodes took, and the time before it began is divided as all tasks of the stage spent theirs.
 */
private final class BatchSlices(
    marks: Seq[MarkReadings],
    offset: String => Option[ClockOffset],
    same: (String, String) => Boolean = (_, _) => false
) {
  import BatchSlices._

  private val ids = marks.map(_.node).distinct.toIndexedSeq
  private val placeOf = ids.zipWithIndex.toMap
  private val places = ids.indices

  // By the place of a node. Between two batches somebody asks what tasks did, and there are none: then none of this is needed.
  private lazy val (before, isSource) = {
    val upstream = marks.groupMapReduce(_.node)(mark => mark.upstream ++ mark.aside)(_ ++ _)
    (ids.map(upstream(_).toList.flatMap(placeOf.get(_))), ids.map(upstream(_).isEmpty))
  }

  /**
   * The nodes that are neither before nor behind one. Where a task has both, as that of a join, the looks cannot tell which rows wait
   * for which.
   */
  private lazy val beside: IndexedSeq[Seq[Int]] = {
    val allBefore = places.map(place => this.allBefore(Seq(place), Set.empty))
    places.map(here => places.filterNot(o => o == here || allBefore(here)(o) || allBefore(o)(here)))
  }

  private val offsets = {
    val executors = mutable.Set.empty[String]
    def seen(slice: TaskSlice): Unit = if (slice.isWatched) executors += slice.executor
    marks.foreach { mark =>
      mark.readings.foreach(reading => seen(reading.work.slice))
      mark.running.foreach(running => seen(running.slice))
      mark.earlier.foreach(seen)
    }
    executors.iterator.map(executor => executor -> offset(executor)).toMap
  }

  def times(batch: Long): Option[BatchTimes] = {
    val tasks = this.tasks
    Option.when(tasks.nonEmpty) {
      // What several actions of a foreachBatch read is work once, as the last of them did it. The batch began with the first.
      val earlier = marks.flatMap(_.earlier).map(slice => slice.read(offsets(slice.executor)))
      val first = (tasks.map(_.began) ++ earlier).min
      val stages = tasks.groupBy(_.stage).values.map(new Stage(_, first)).toSeq
        .sortBy(stage => (stage.nodes.head, stage.end)) // upstream first
      val times = stages.zipWithIndex.map { case (stage, place) => stage.times(stages.take(place)) }
      BatchTimes(batch, first, bound, times)
    }
  }

  /** Where all clocks are one, it does not matter how far it is off. Else both ends of a span may be wrong. */
  private def bound: Option[Double] =
    if (offsets.size == 1) Some(0.0)
    else if (offsets.values.exists(_.isEmpty)) None
    else Some(offsets.values.flatten.map(_.boundMs).toSeq.sorted.takeRight(2).sum)

  /** A node may be planned several times, in both branches of a diamond say. All that its tasks did is work. */
  private def tasks: Seq[Task] = {
    val found = mutable.LongMap.empty[Array[Part]]
    def add(place: Int, part: Part): Unit = {
      val ofTask = found.getOrElseUpdate(part.attempt.id, new Array[Part](ids.size))
      ofTask(place) = if (ofTask(place) == null) part else ofTask(place) + part
    }
    marks.foreach { mark =>
      val place = placeOf(mark.node)
      mark.readings.foreach { reading =>
        val work = reading.work
        if (work.slice.isWatched)
          add(place, part(work.attempt, reading.partition, work.slice, reading.summary.records))
      }
    }
    val isOver = marks.forall(_.running.isEmpty)
    // A task that has ended since it told how far it was is told of twice.
    val over = if (isOver) Set.empty[(Long, Int)]
    else (for ((id, parts) <- found.toSeq; place <- places if parts(place) != null) yield id -> place).toSet
    for (mark <- marks; here <- mark.running if !over(here.attempt.id -> placeOf(mark.node)))
      add(
        placeOf(mark.node),
        part(here.attempt, here.partition, here.slice, here.rows).copy(isRunning = true)
      )
    val tasks = found.values.map(new Task(_)).toSeq
    if (isOver) tasks else furthest(tasks)
  }

  /** While tasks run there may be several attempts at one. Of one that is run again what had ended is lost. */
  private def furthest(tasks: Seq[Task]): Seq[Task] =
    tasks.groupBy(task => (task.stage, task.attempt.taskPartition)).values
      .map(_.maxBy(task => (task.isRunning, task.records, -task.attempt.id))).toSeq

  private def part(attempt: TaskAttempt, partition: Int, slice: TaskSlice, rows: Long): Part = {
    val clock = offsets(slice.executor)
    Part(
      attempt,
      partition,
      slice.executor,
      began = slice.read(clock),
      ended = slice.ended(clock),
      over = slice.over(clock),
      watched = slice.watchedMs.toDouble,
      waited = slice.waitedMs.toDouble,
      records = rows
    )
  }

  private final class Stage(tasks: Seq[Task], first: Long) {
    val nodes: Seq[Int] = places.filter(node => tasks.exists(_.has(node)))
    val start: Long = tasks.map(_.began).min
    private val last = tasks.maxBy(_.over)
    private val spent = tasks.map(_.ms).sum

    def end: Long = last.over
    def has(node: Int): Boolean = nodes.contains(node)

    def times(earlier: Seq[Stage]): StageTimes = {
      // A node that is read in both branches of a diamond is upstream within each.
      val outside = nodes.flatMap(before).toSet -- nodes
      // What began when this was over is another action's.
      val from =
        earlier.indices.filter(place => outside.exists(earlier(place).has) && earlier(place).start < end)
      val begin = from.map(earlier(_).end).maxOption.fold(start)(math.max(start, _))
      val whole = millis(begin, end).max(0)
      val isWhole = isOneStep && from.nonEmpty
      val known = if (isWhole) Map(nodes.head -> whole) else within(whole)
      val path = nodes.filter(last.has)
      StageTimes(
        from,
        millis(first, start),
        millis(first, end),
        tasks.size,
        nodes.map { node =>
          val latest = tasks.flatMap(_.at(node)).maxBy(_.ended)
          val latency = if (isSource(node)) Some(0.0) else known.get(node)
          NodeTimes(
            ids(node),
            latency,
            millis(first, latest.ended),
            latest.partition,
            latest.executor,
            partitions(node, isWhole)
          )
        },
        path.map(ids),
        (whole - path.flatMap(known.get).sum).max(0)
      )
    }

    private def isOneStep = nodes.size == 1 && !isSource(nodes.head)

    /** What is known of each node. Those on the path take no more together than the whole. */
    private def within(whole: Double): Map[Int, Double] = {
      val known = nodes.flatMap(node => latency(node).map(node -> _)).toMap
      val sum = known.collect { case (node, ms) if last.has(node) => ms }.sum
      if (sum <= whole) known else known.map { case (node, ms) => node -> ms * whole / sum }
    }

    /** The ways to each node that is known. */
    private val ways: Map[Int, Way] = nodes.flatMap { node =>
      val way = new Way(tasks.flatMap(_.stepTo(node)))
      Option.when(way.steps.size == tasks.count(_.has(node)) && way.isSeen)(node -> way)
    }.toMap

    /** @param isWhole whether all that its tasks do is the node's */
    private def partitions(node: Int, isWhole: Boolean): NodePartitions = {
      def told(task: Task, latency: Option[Double]) = {
        val part = task.at(node).get
        PartitionTimes(
          part.partition,
          part.executor,
          millis(task.began, part.ended),
          millis(first, part.ended),
          latency,
          part.records
        )
      }
      ways.get(node) match {
        case Some(way) =>
          NodePartitions.of(way.steps.map(step => told(step.task, Some(way.ms(step)))), isKnown = true)
        case None =>
          val here = tasks.filter(_.has(node))
          def latency(task: Task) = if (isSource(node)) Some(0.0) else Option.when(isWhole)(task.ms)
          NodePartitions.of(here.map(task => told(task, latency(task))), isKnown = isWhole)
      }
    }

    private def latency(node: Int): Option[Double] =
      ways.get(node).map { way =>
        val own = way.steps.find(_.task == last).getOrElse(way.steps.maxBy(_.ended))
        val queued = millis(start, own.task.began)
        val ofAll = if (spent > 0) way.steps.map(way.ms).sum / spent else 0
        way.ms(own) + queued * ofAll
      }
  }

  /** @param parts by the places of nodes; null where it has none */
  private final class Task(parts: Array[Part]) {
    private val known = parts.filter(_ != null)
    val attempt: TaskAttempt = known.head.attempt
    def stage: Int = attempt.stage
    val began: Long = known.map(_.began).min
    val over: Long = known.map(_.over).max
    def ms: Double = millis(began, over)
    def isRunning: Boolean = known.exists(_.isRunning)
    def records: Long = known.map(_.records).sum
    def has(node: Int): Boolean = parts(node) != null
    def at(node: Int): Option[Part] = Option(parts(node))

    /** The way to a node from the one before it, where these are two and the same rows go it. */
    def stepTo(node: Int): Option[Step] = if (!has(node)) None
    else before(node).filter(has) match {
      case Seq(from) if passesAll(from, node) && !beside(node).exists(has) =>
        val here = parts(node)
        val toBefore = if (before(from).exists(has)) parts(from).waited else 0
        Some(new Step(
          this,
          waited = (here.waited - toBefore).max(0),
          watched = here.watched,
          ms = millis(here.began, here.ended),
          ended = here.ended
        )).filterNot(_ => hasPassed(from, node))
      case _ => None
    }

    /**
     * Whether all rows had passed one before the other began, as where state takes them all first: nobody has looked at both then. Of a
     * task that no look has seen it is not asked: it may be shorter than clocks are exact.
     */
    private def hasPassed(from: Int, node: Int): Boolean =
      parts(from).records > 0 && parts(node).watched > 0 && parts(from).ended < parts(node).began

    private def passesAll(from: Int, node: Int): Boolean = {
      val (before, here) = (parts(from), parts(node))
      before.records == here.records ||
      here.isRunning && (before.records == here.records + 1 || same(ids(from), ids(node)))
    }
  }

  /** The way of a task's rows from a node to the next. */
  private final class Step(
      val task: Task,
      val waited: Double,
      val watched: Double,
      val ms: Double,
      val ended: Long
  )

  /** The same of all tasks that go it. */
  private final class Way(val steps: Seq[Step]) {
    private val watched = steps.map(_.watched).sum

    /** What share of the looks found rows on it. */
    private val share = steps.map(_.waited).sum / watched

    def isSeen: Boolean = watched > 0 && watched >= steps.map(_.ms).sum * Seen

    /** How long a task took: as the looks at it say, or where these are too few those at all tasks. */
    def ms(of: Step): Double = {
      val isSeen = of.watched > 0 && of.watched >= of.ms * Seen
      of.ms * (if (isSeen) (of.waited / of.watched).min(1.0) else share)
    }
  }

  @tailrec
  private def allBefore(front: Seq[Int], seen: Set[Int]): Set[Int] = {
    val next = front.flatMap(before).distinct.filterNot(seen)
    if (next.isEmpty) seen else allBefore(next, seen ++ next)
  }
}

private object BatchSlices {

  /** What part of its time a task is seen at the least. */
  private val Seen = 0.5

  private def millis(from: Long, to: Long): Double = (to - from) / 1000.0

  /** What a task did at a node, by the driver's clock in microseconds. Looks are in milliseconds. */
  private final case class Part(
      attempt: TaskAttempt,
      partition: Int,
      executor: String,
      began: Long,
      ended: Long,
      over: Long,
      watched: Double,
      waited: Double,
      records: Long,
      isRunning: Boolean = false
  ) {

    /** Together with another partition that the same task has read. */
    def +(other: Part): Part = copy(
      partition = if (other.ended > ended) other.partition else partition,
      began = began.min(other.began),
      ended = ended.max(other.ended),
      over = over.max(other.over),
      watched = watched + other.watched,
      waited = waited + other.waited,
      records = records + other.records,
      isRunning = isRunning || other.isRunning
    )
  }
}
