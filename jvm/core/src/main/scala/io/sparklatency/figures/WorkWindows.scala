package io.sparklatency.figures

/**
 * Where no batch ends for minutes, or ever, windows of a second take the place of batches: what its tasks did since they last told.
 * Keeps two reports for each task. Not thread-safe.
 *
 * A task waits for rows most of the time. So a window does not tell when a node ended, but for how long the operators before it were at
 * work, in that task of its stage which was at work longest. Stages follow one another in it as records go.
 */
private final class WorkWindows(mark: Long => Option[PlannedNode]) {
  import WorkWindows._

  private var last = Map.empty[Long, TaskReport]
  private var current = Map.empty[Long, TaskReport]
  private var beganMs = 0L
  private var windows = 0L
  private var moved = Option.empty[Long]

  /** Takes a report, and gives the window that is over with it, if one is. */
  def report(report: TaskReport, nowMs: Long): Option[BatchTimes] = {
    val isOver = current.nonEmpty && (nowMs - beganMs >= WindowMs || nowMs < beganMs)
    val over = if (isOver) times else None
    if (isOver || current.isEmpty) {
      current = Map.empty
      beganMs = nowMs
    }
    val task = report.attempt.id
    val now = last.get(task).fold(report)(since(_, report))
    current += task -> current.get(task).fold(now)(added(_, now))
    if (last.get(task).forall(_.rows != report.rows)) moved = Some(nowMs)
    last += task -> report
    over
  }

  /** When a task was last seen to take a row more. */
  def movedMs: Option[Long] = moved

  def taskEnded(task: Long): Unit = last -= task

  private def times: Option[BatchTimes] = {
    val tasks = current.values.toList.map(new Task(_)).filter(_.nodes.nonEmpty)
    val order = tasks.flatMap(_.nodes.keys).distinct.sortBy(id => depth(tasks, id, Set.empty))
    val stages =
      tasks.groupBy(_.stage).values.toSeq.sortBy(of => order.indexWhere(id => of.exists(_.has(id))))
    val times = stages.foldLeft(Seq.empty[StageTimes])((before, of) => before :+ stage(of, order, before))
    Option.when(times.nonEmpty) {
      windows += 1
      val opened = tasks.flatMap(_.nodes.values).map(_.slice.openedMicros).min
      BatchTimes(windows, opened, Some(0.0), times, BatchTimes.Window)
    }
  }

  private def stage(tasks: Seq[Task], order: Seq[String], before: Seq[StageTimes]): StageTimes = {
    val nodes = order.filter(id => tasks.exists(_.has(id)))
    val outside = tasks.flatMap(_.upstream).toSet -- nodes
    val from = before.indices.filter(place => before(place).nodes.exists(node => outside(node.node)))
    val begin = from.map(before(_).endMs).maxOption.getOrElse(0.0)
    val busiest = tasks.maxBy(_.ms)
    val times = nodes.map { id =>
      val at = if (busiest.has(id)) busiest else tasks.filter(_.has(id)).maxBy(_.latency(id).getOrElse(0.0))
      val slice = at.nodes(id)
      NodeTimes(id, at.latency(id), begin + busiest.ms, slice.partition, slice.slice.executor)
    }
    StageTimes(from, begin, begin + busiest.ms, tasks.size, times, nodes.filter(busiest.has), 0)
  }

  private def depth(tasks: Seq[Task], id: String, seen: Set[String]): Int =
    tasks.flatMap(_.upstreamOf(id)).distinct.filterNot(seen).map(depth(
      tasks,
      _,
      seen + id
    ) + 1).maxOption.getOrElse(0)

  /** What a task did in a window. */
  private final class Task(report: TaskReport) {
    val stage: Int = report.attempt.stage
    private val marks = report.nodes.flatMap(node => mark(node.planning).map(_ -> node))
    val nodes: Map[String, TaskReport.Node] = marks.map { case (mark, node) => mark.id -> node }.toMap
    private val before = marks.groupMapReduce(_._1.id)(_._1.upstream)(_ ++ _)
    def has(id: String): Boolean = nodes.contains(id)
    def upstreamOf(id: String): Set[String] = before.getOrElse(id, Set.empty)
    def upstream: Iterable[String] = before.values.flatten
    lazy val ms: Double = nodes.keys.toList.flatMap(latency).sum // a set would take equal ones for one

    /**
     * 0 at a source. None of the first node behind a shuffle, and where more or fewer rows leave the operators than come to them. Behind a
     * union a task has the node of one side.
     */
    def latency(id: String): Option[Double] = {
      val here = nodes(id)
      val from = upstreamOf(id)
      from.toSeq.filter(has) match {
        case _ if from.isEmpty => Some(0.0)
        case Seq(one) if Set(0L, 1L)(nodes(one).rows - here.rows) && here.slice.watchedMs > 0 =>
          val toBefore = if (upstreamOf(one).exists(has)) nodes(one).slice.waitedMs else 0f
          val (waited, watched) = ((here.slice.waitedMs - toBefore).max(0f).toDouble, here.slice.watchedMs)
          // Of one second, too, where a report came late.
          Some((waited / watched).min(1.0) * here.slice.overMs.toDouble.min(WindowMs.toDouble))
        case _ => None
      }
    }
  }
}

private object WorkWindows {
  val WindowMs = 1000L

  /** What a task did between two reports. */
  private def since(before: TaskReport, now: TaskReport): TaskReport = changed(now) { node =>
    before.nodes.find(_.goesOnWith(node)).fold(node.slice) { earlier =>
      val (old, slice) = (earlier.slice, node.slice)
      slice.copy(
        openedMicros = slice.openedMicros + math.round(old.overMs * 1000.0),
        overMs = slice.overMs - old.overMs,
        watchedMs = slice.watchedMs - old.watchedMs,
        waitedMs = slice.waitedMs - old.waitedMs
      )
    }
  }

  private def added(one: TaskReport, next: TaskReport): TaskReport = changed(next) { node =>
    one.nodes.find(other => other.planning == node.planning).fold(node.slice) { before =>
      node.slice.copy(
        openedMicros = before.slice.openedMicros,
        overMs = node.slice.overMs + before.slice.overMs,
        watchedMs = node.slice.watchedMs + before.slice.watchedMs,
        waitedMs = node.slice.waitedMs + before.slice.waitedMs
      )
    }
  }

  private def changed(report: TaskReport)(slice: TaskReport.Node => TaskSlice): TaskReport =
    report.copy(nodes = report.nodes.map(node => node.copy(slice = slice(node))))
}
