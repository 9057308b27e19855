package io.sparklatency.figures

import scala.collection.mutable

import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset

/**
 * The figures of one run of a query, folded from its batches. A driver folds them while the query runs: [[add]] when an execution
 * ends, then [[commit]]. A reader of the event log folds the same batches by [[replay]], on a clock that shows their commits. Both
 * end in the same lines, so totals, last batches and links are the same. The window counts a replayed batch at its commit; a
 * driver has counted what a long task published when it was published. Not thread-safe.
 *
 * @param make makes the figures of nodes and tasks, and says how many there may be
 * @param tasks how its tasks get on, also those before its first node
 */
final class RunFigures private[figures] (
    owner: MarkOwner,
    granularity: Granularity,
    make: FiguresMaker,
    tasks: TaskProgress
) {
  import RunFigures._

  private val nodes = new RunNodes(granularity, make)
  private val operators = new RunOperators(nodes, make)
  private val way = new RunWay(nodes.contains)
  private var latest = Map.empty[String, LastReached]
  private var batches = 0L
  private var droppedLate = 0L
  private var toldFailed = 0L // of the tasks that have failed, how many batches have told
  private var open: Option[OpenBatch] = None
  private val progress = new BatchInProgress
  private val markers = new RunMarkers(make)
  private val parts = new RunParts
  private val watermarks = mutable.Set.empty[WatermarkKey]
  private val windows = new WorkWindows(progress.mark)
  private var lastBatch: Option[Batch] = None
  private var workedMs: Option[Long] = None
  private var explained: Option[Batch] = None
  private var outOfOrder = LatencySummary.empty
  private val pace = new Pace
  private val end = new RunEnd
  var planning = 0L // the newest of which a task has told, where nobody tells of plans
  var toldMs = Option.empty[Long] // when a task last did, there

  def this(owner: MarkOwner, granularity: Granularity, make: FiguresMaker) =
    this(owner, granularity, make, new TaskProgress)

  def name: String = owner.key.query
  def id: Option[String] = owner.queryId
  def runId: Option[String] = owner.runId
  def figures: collection.Map[String, Map[Measure, LiveFigures]] = nodes.byId
  def stopped: Boolean = end.stopped
  def taskCount: Int = nodes.taskCount
  def markerCount: Int = markers.size

  /** What a task that has ended recorded, or one that goes on where nobody will tell the whole of it. */
  def add(node: String, measure: Measure, summary: LatencySummary, task: Option[TaskPlace] = None): Unit =
    (nodes.of(node, measure) +: nodes.ofTask(node, measure, task)).foreach(_.add(summary))

  /** A plan is about to run: the way of its records is known before the first of them comes. */
  def planned(nodes: Seq[PlannedNode]): Unit = {
    if (nodes.exists(!_.hasBatches)) end.withoutBatches()
    end.goOn()
    progress.planned(nodes)
    progress.keep(BatchInProgress.Kept)
    markers.planned(nodes)
    way.planned(nodes)
  }

  /** The batch that runs, or whose results are not known to be committed yet. Spark tells the end of an execution twice. */
  def batch(id: Long): OpenBatch = open.filter(_.id == id).getOrElse {
    val batch = new OpenBatch(id)
    batch.watermarks = lastBatch.toSeq.flatMap(_.watermarks)
    open = Some(batch)
    batch
  }

  /**
   * What stands of an execution. Nodes show in the order of its plan.
   *
   * @param offset how far an executor's clock is off; none where that is unknown
   */
  def add(
      marks: Seq[MarkReadings],
      batch: OpenBatch,
      offset: String => Option[ClockOffset]
  ): Unit = {
    way.goesOnFrom(marks.flatMap(mark => mark.upstream ++ mark.aside))
    val shown = marks.filter(mark => isShown(mark.node))
    val latencies = shown.filter(_.measure == Measure.E2ELatency)
    // A node stands where its records leave it; one that only takes records in, there.
    val inPlan = (latencies ++ shown).distinctBy(_.node).sortBy(shown.indexOf(_))
    nodes.inOrder(inPlan.map(_.node)) {
      inPlan.foreach { mark =>
        nodes.of(mark.node, mark.measure)
        // Only what leaves a node links it to those upstream of it.
        val upstream = if (mark.measure == Measure.E2ELatency) mark.upstream.toSeq.sorted else Nil
        if (nodes.contains(mark.node)) batch.add(mark.node, upstream)
      }
      shown.groupBy(mark => mark.node -> mark.measure).values.foreach(add(_, batch, latencies))
    }
    // Markers pass nodes that are not shown, too.
    marks.filter(_.measure == Measure.E2ELatency).foreach(mark => way.linked(mark.node, mark.upstream))
    latencies.filter(mark => nodes.contains(mark.node)).foreach(mark =>
      way.dated(mark.node, mark.upstream, mark.timestamp)
    )
    latencies.foreach(mark => batch.dated(mark.node, mark.dated))
    batch.seesReading ||= latencies.exists(_.readsSource)
    batch.times = BatchTimes.of(batch.id, latencies, offset).orElse(batch.times)
    batch.markers = batch.markers.orElse(markers.of(marks, way.upstreamNow, offset))
    way.forgetBut(marks.map(_.node))
  }

  /** @param same marks of one node and measure */
  private def add(same: Seq[MarkReadings], batch: OpenBatch, others: Seq[MarkReadings]): Unit = {
    val (mark, readings) = (same.head, MarkReadings.standing(same))
    val total = add(nodes.of(mark.node, mark.measure), readings)
    val place = if (nodes.contains(mark.node)) mark.node else Other
    batch.add(place, mark.measure, total)
    if (mark.comesIn) batch.cameIn(place, readings.flatMap(_.ages))
    if (same.exists(_.isLast)) batch.add(place, readings.flatMap(_.ages))
    if (granularity == Granularity.Subtask) addToTasks(mark, others, readings)
  }

  /** The batch that was committed before this one, where it had marks. */
  def before(batch: Batch): Option[Batch] = lastBatch.filter(_.batch == batch.batch - 1)

  /** The results of a batch are committed. None if it is not the one that ran. */
  def commit(id: Long)(complete: Batch => Batch): Option[Batch] =
    open.filter(_.id == id).map { batch =>
      val latencies = batch.latencies.map(node =>
        node.copy(timestamp = way.timestamp(node.id), held = batch.held.get(node.id))
      )
      for (node <- latencies; ages <- node.measures.get(Measure.Commit))
        nodes.of(node.id, Measure.Commit).add(ages)
      val at = batch.committedAt
      val marked = batch.markers.map(markers.committed(_, at))
      open = None
      val told = complete(
        Batch(
          name,
          owner.queryId,
          runId,
          id,
          startMs = at,
          committedMs = at,
          inputRows = 0,
          durationsMs = Map.empty,
          watermarkMs = None,
          batch.watermarks,
          droppedLate = 0,
          latencies,
          nodes.folded,
          batch.times,
          execution = batch.execution,
          markers = marked,
          usesWatermark = batch.usesWatermark,
          tasksFailed = tasks.failed.count - toldFailed,
          windows = Option.when(end.isWithoutBatches)(operators.windows)
        )
      )
      val earlier = lastBatch.toSeq.flatMap(_.watermarks)
      val outOfOrder = batch.arrivals.filter(_ => batch.awaitsWatermark)
        .flatMap(OutOfOrder.of(_, told.committedMs, earlier, told.watermarks))
      val record = parts.explained(told, batch).copy(outOfOrder = outOfOrder)
      committed(record)
      record
    }

  /** A batch that was committed, as its event tells. */
  def replay(batch: Batch): Unit = {
    nodes.inOrder(batch.nodes.map(_.id)) {
      for (node <- batch.nodes; (measure, summary) <- node.measures) nodes.of(node.id, measure).add(summary)
    }
    batch.nodes.foreach(way.replay)
    batch.markers.foreach(markers.replay(_, batch.committedMs))
    batch.windows.foreach { windows =>
      end.withoutBatches()
      operators.replay(windows)
    }
    committed(batch)
  }

  private def committed(batch: Batch): Unit = {
    end.goOn()
    batches += 1
    droppedLate += batch.droppedLate
    toldFailed += batch.tasksFailed
    latest ++= batch.nodes.filter(_.hasRecords).map(node =>
      node.id -> LastReached(node.measures, batch.committedMs, batch.knownWatermarks)
    )
    lastBatch = Some(batch)
    for (key <- batch.watermarks.map(_.key) if watermarks.add(key)) make.watermark(key)
    pace.committed(batch.committedMs, batch.durationsMs.get(Phase.Whole))
    if (batch.parts.nonEmpty) explained = lastBatch
    batch.outOfOrder.foreach(outOfOrder += _)
    // A batch without records has tasks too. They say nothing of the work on records. Where windows tell,
    // batches have no times.
    if (batch.nodes.exists(_.hasRecords)) batch.times.foreach { times =>
      operators.worked(times)
      workedMs = Some(batch.committedMs)
    }
  }

  private def add(figures: LiveFigures, readings: Iterable[Reading]): LatencySummary = {
    val (published, others) = figures.published(readings)
    val total = LatencySummary.merge(readings.map(_.summary))
    val rest =
      if (published.isEmpty) total else LatencySummary.merge(published.map(_.rest) ++ others.map(_.summary))
    figures.add(total, rest, published.map(_.id), others.view.map(_.id))
    total
  }

  private def addToTasks(
      mark: MarkReadings,
      others: Seq[MarkReadings],
      readings: Iterable[Reading]
  ): Unit = {
    val isLast = !others.exists(m => m.subtopology == mark.subtopology && m.upstream.contains(mark.node))
    for (reading <- readings) {
      val task = MarkPlace(mark.subtopology, isLast).in(reading.attempt.taskPartition)
      nodes.ofTask(mark.node, mark.measure, Some(task)).foreach(add(_, Seq(reading)))
    }
  }

  def publish(part: PublishedPart): Unit = {
    val (node, measure) = (part.owner.key.node, part.owner.measure)
    if (isShown(node)) {
      if (!nodes.contains(node)) nodes.inOrder(way.inPlans) { nodes.of(node, measure); () }
      (nodes.of(node, measure) +: nodes.ofTask(node, measure, part.task))
        .foreach(_.publish(part.reading, part.summary, part.oldestMs, part.endless, part.intake))
    }
  }

  /** What a running task has done so far. Where no batch ends, that is told in windows of a second. */
  def report(report: TaskReport, nowMs: Long): Unit =
    if (report.hasBatches) {
      if (progress.report(report)) tasks.gotOn(nowMs)
    } else {
      windows.report(report, nowMs).foreach(operators.worked)
      markers.report(report, nowMs, progress.mark(_).map(_.id), way.upstream(_).isEmpty)
    }

  def jobStarted(stages: Iterable[Int]): Unit = tasks.jobStarted(stages)
  def succeeded(stage: Int, nowMs: Long): Unit = tasks.succeeded(stage, nowMs)
  def failed(stage: Int, task: FailedTask): Unit = tasks.failed(stage, task)
  def executorLost(executor: LostExecutor): Unit = tasks.executorLost(executor)

  def taskEnded(task: Long): Unit = {
    progress.taskEnded(task)
    windows.taskEnded(task)
    markers.taskEnded(task)
  }

  /** Asks what the operators of the batch in progress did so far: see [[BatchInProgress.asked]]. */
  def soFar(source: WorkSource): () => Option[BatchTimes] = progress.asked(source, passedTheSame(latest))

  def ended(plannings: Set[Long], nowMs: Long): Unit = {
    progress.ended(plannings)
    losing(nowMs)(reading => plannings(reading.planning))
    nodes.withTasks.foreach(_.ended(plannings))
  }

  /** A batch has ended, and with it all before: this is its first planning. */
  def endedBefore(planning: Long): Unit = nodes.withTasks.foreach(_.endedBefore(planning))

  def forget(task: Long, nowMs: Long): Unit = {
    losing(nowMs)(_.task == task)
    nodes.withTasks.foreach(_.forget(task))
  }

  private def losing(nowMs: Long)(gone: ReadingId => Boolean): Unit =
    if (end.mayLose(nowMs) && nodes.all.exists(_.isOf(gone))) end.lose(nowMs, now(nowMs))

  def keep(task: Long): Unit = nodes.withTasks.foreach(_.keep(task))

  /** Its tasks tell nothing more. What nobody will ask for goes: a batch that was not committed, and what tasks show one by one. */
  def stop(nowMs: Long): Unit = {
    end.stop(nowMs)(now(nowMs))
    open = None
    nodes.forgetTasks()
  }

  def snapshot(nowMs: Long): QuerySnapshot = end.shown.getOrElse(now(nowMs))

  private def now(nowMs: Long): QuerySnapshot =
    brief(nowMs).copy(
      nodes = nodes.byId.toSeq.map { case (node, measures) =>
        val figures = measures.map { case (measure, figures) => measure -> figures.snapshot() }
        NodeSnapshot(
          node,
          way.upstream(node),
          figures,
          latest.get(node).fold(Map.empty[Measure, LatencySummary])(_.measures),
          operators.of(node),
          latest.get(node).map(_.committedMs),
          way.timestamp(node),
          latest.get(node).fold(Seq.empty[SourceWatermark])(_.watermarks)
        )
      },
      markers = markers.snapshot(if (way.inPlans.isEmpty) nodes.byId.keys.toSeq else way.inPlans)
    )

  /** Whether a batch has told what made its records old. */
  def tellsParts: Boolean = explained.nonEmpty

  /** The same without nodes: for figures of the query itself. */
  def brief(nowMs: Long): QuerySnapshot = QuerySnapshot(
    name,
    id,
    runId,
    batches,
    Nil,
    math.max(nodes.folded, lastBatch.fold(0)(_.folded)),
    lastBatch,
    nodes.all.flatMap(_.oldestRunning).minOption.map(nowMs - _),
    make.window,
    operators.times,
    explained,
    pace.intervalMs,
    pace.takesMs,
    outOfOrder = outOfOrder,
    workedMs = workedMs,
    hasNodes = true,
    droppedLate = droppedLate,
    progressMs = (tasks.atMs ++ windows.movedMs).maxOption,
    failedTasks = runId.map(_ => tasks.failed.copy(count = math.max(tasks.failed.count, toldFailed))),
    lostExecutors = tasks.lostExecutors,
    endless = end.isWithoutBatches
  )

  /** Until the first plan is known, no node is known to have others downstream. */
  private def isShown(node: String): Boolean = granularity != Granularity.Single || !way.goesOn(node)
}

object RunFigures {

  /** What a node measured in the last batch that reached it. */
  private final case class LastReached(
      measures: Map[Measure, LatencySummary],
      committedMs: Long,
      watermarks: Seq[SourceWatermark]
  )

  /** Whether, in the last batch that reached them, two nodes let the same number of rows pass. */
  private def passedTheSame(latest: Map[String, LastReached])(one: String, other: String): Boolean = {
    def rows(node: String) =
      latest.get(node).map(last => last.committedMs -> last.measures.get(Measure.E2ELatency).map(_.records))
    rows(one).nonEmpty && rows(one) == rows(other)
  }

  /** Where nodes and tasks go that are too many to show one by one. */
  val Other = "__other__"
}
