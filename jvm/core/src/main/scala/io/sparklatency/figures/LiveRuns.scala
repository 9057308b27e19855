package io.sparklatency.figures

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.mutable

import io.sparklatency.time.Clock

/**
 * The figures of all queries that run in this process, one run of each, and of some that have stopped. Thread-safe: one lock,
 * held for a batch or a reading, never for a record.
 *
 * @param shown       is told of every figure that comes and goes, under the lock
 * @param uncommitted the timestamp of the oldest record that the ended tasks of a run have read and that is not committed; asked
 *                    outside the lock
 * @param activity    what a run does now; asked outside the lock
 * @param briefActivity the same without its tasks, for gauges
 * @param work        what else is known of the batch in progress; asked outside the lock
 * @param begunAs     what events tell of a run without figures; asked outside the lock
 * @param mayForget   what may be let go when more than [[LiveRuns.QueriesKept]] of its kind are known, oldest first,
 *                    if no task has told of it within the window
 */
final class LiveRuns(
    clock: Clock,
    settings: FiguresSettings,
    shown: FiguresListener,
    uncommitted: String => Option[Long] = _ => None,
    activity: String => Option[Activity] = _ => None,
    briefActivity: String => Option[Activity] = _ => None,
    work: WorkSource = WorkSource.Nothing,
    begunAs: String => Option[QuerySnapshot] = _ => None
)(mayForget: RunFigures => Boolean) {
  private val queries = mutable.LinkedHashMap.empty[String, RunFigures]

  /** Runs that have not been told to have ended when the next one of their query began: their last batches are yet to come. */
  private val replaced = mutable.Map.empty[String, RunFigures]

  private val begun = new BegunRuns(shown, isFree = queries.get(_).forall(_.stopped), briefly)
  private val endlessTasks = mutable.Set.empty[Long]
  private val endedTasks = new Newest[Long](10000)
  private val endedPlannings = new Newest[Long](10000)
  private val letGo = new Newest[String](10000) // executors
  private val endedRuns = new Newest[String](1000)
  private val batchQueries = new BatchQueriesInProgress
  private val aboutToRun = new ConcurrentLinkedQueue[Seq[PlannedNode]]
  private var isClosed = false

  /** A run begins, of which Spark alone tells as yet. */
  def began(name: String, runId: String, queryId: String): Unit = locked {
    if (!isClosed && !hasEnded(runId) && ofRun(runId)(_ => ()).isEmpty) begun.add(runId, name, queryId)
  }

  /** What events tell of a run without nodes, with how its tasks get on. */
  def withTasks(run: QuerySnapshot): QuerySnapshot = locked {
    run.runId.flatMap(begun.tasks).fold(run)(tasks =>
      run.copy(
        progressMs = tasks.atMs,
        failedTasks = Some(tasks.failed),
        lostExecutors = tasks.lostExecutors
      )
    )
  }

  /** Hands over the figures of a run of a query, which begin anew with each run. */
  def update[A](owner: MarkOwner)(change: RunFigures => A): A = locked {
    change(owner.runId.flatMap(replaced.get).getOrElse(newest(owner)))
  }

  /**
   * The same of a task, which may outlive its run for a moment: figures of a run that has ended would come back and stay, and those of
   * one that another has followed would take the place of the next. Of several runs of a query, the next has the higher plannings.
   */
  def ofTask(owner: MarkOwner, planning: Long)(change: RunFigures => Unit): Unit = locked {
    val next = queries.get(owner.key.query).filter(run => run.runId != owner.runId && run.planning > planning)
    if (next.isEmpty && !owner.runId.exists(hasEnded)) update(owner) { run =>
      run.planning = run.planning.max(planning)
      run.toldMs = Some(clock.millis())
      change(run)
    }
  }

  private def newest(owner: MarkOwner): RunFigures =
    if (isClosed) new RunFigures(owner, settings.granularity, new Maker(owner)) else kept(owner)

  private def kept(owner: MarkOwner): RunFigures = {
    val name = owner.key.query
    queries.get(name).filter(_.runId != owner.runId).foreach(replace)
    if (!hasRoom) makeRoomBeside(name)
    val query = queries.getOrElseUpdate(
      name, {
        val tasks = owner.runId.flatMap(begun.tasks).getOrElse(new TaskProgress)
        val run = new RunFigures(owner, settings.granularity, new Maker(owner), tasks)
        owner.runId.foreach(begun.forget)
        begun.hide(name)
        if (owner.runId.nonEmpty) {
          shown.addedQuery(name, () => briefly(run))
          shown.addedAges(name, () => withAges(run))
        }
        run
      }
    )
    forgetSome()
    query
  }

  private def replace(run: RunFigures): Unit = {
    forget(run.name)
    if (!mayForget(run)) run.runId.foreach(replaced(_) = run)
  }

  /**
   * A plan is about to run. Its nodes, upstream first, may be of several queries. The planning thread does not wait for the lock, which may
   * be held while the tasks of a large batch are added up: whoever has it next takes the nodes.
   */
  def planned(nodes: Seq[PlannedNode]): Unit = { aboutToRun.add(nodes); () }

  /** A change that goes on is to find no other run in the place of its own: within it nothing is taken. */
  private def locked[A](body: => A): A = {
    val isWithin = Thread.holdsLock(this)
    synchronized {
      if (!isWithin) takePlanned()
      body
    }
  }

  private def takePlanned(): Unit =
    Iterator.continually(aboutToRun.poll()).takeWhile(_ != null).foreach { nodes =>
      nodes.groupBy(_.owner.runId).foreach {
        case (Some(run), of) => if (!hasEnded(run)) update(of.head.owner)(_.planned(of))
        case (None, of) => batchQueries.planned(of)
      }
    }

  /** A job of an execution outside a streaming query begins. */
  def batchQueryStarted(execution: Long, stages: Iterable[Int]): Unit =
    locked(batchQueries.started(execution, stages))

  def batchQueryEnded(execution: Long): Unit = locked(batchQueries.ended(execution))

  /** The same of a run that is known already. */
  def ofRun[A](runId: String)(read: RunFigures => A): Option[A] = locked {
    all.find(_.runId.contains(runId)).map(read)
  }

  def isRunning(runId: String): Boolean = ofRun(runId)(!_.stopped).getOrElse(false)

  /** The ids of all runs that show. */
  def running: Seq[String] = locked(showing.flatMap(_.runId).toSeq)

  def hasEnded(runId: String): Boolean = locked(endedRuns.contains(runId))

  /** A stopped query shows no longer; its last figures can still be read, as long as not too many queries came after it. */
  def stopped(runId: String): Unit = locked {
    endedRuns.add(runId)
    replaced -= runId
    ofRun(runId) { query =>
      query.stop(clock.millis())
      shown.removed(query.name)
      begun.show(query.name)
    }
    begun.forget(runId)
    forgetSome()
  }

  /** Nothing of ours is to outlive the application in this process. What comes later shows nowhere, and is not kept. */
  def close(): Unit = locked {
    isClosed = true
    shown.closed()
    queries.clear()
    replaced.clear()
    begun.clear()
  }

  /** Of a task that still runs. What comes after it has ended, or its execution, or this run of its query, is too late. */
  def publish(part: PublishedPart): Unit = locked {
    val isLate = endedTasks.contains(part.reading.task) || part.owner.runId.exists(hasEnded) ||
      !part.endless && endedPlannings.contains(part.reading.planning)
    if (!isLate) {
      if (part.endless) endlessTasks += part.reading.task
      update(part.owner)(_.publish(part))
    }
  }

  /** How far a task is. What comes after it has ended, or this run of its query, is too late. */
  def report(report: TaskReport): Unit = locked {
    if (!endedTasks.contains(report.attempt.id)) report.run match {
      case Some(run) => if (!hasEnded(run)) ofRun(run)(_.report(report, clock.millis()))
      case None => batchQueries.report(report)
    }
    ()
  }

  /** A job of a query's run begins: of its newest, for one goes on at a time. */
  def jobStarted(queryId: String, stages: Iterable[Int]): Unit = locked {
    queries.values.filter(run => !run.stopped && run.id.contains(queryId)).foreach(_.jobStarted(stages))
    begun.tasksOf(queryId).foreach(_.jobStarted(stages))
  }

  /**
   * What a failed task published stands no more. What a task published that was to run for ever stands however it ended.
   *
   * @param why it failed, in a line; none of one that was killed
   */
  def taskEnded(task: Long, stage: Int, hasFailed: Boolean, why: Option[String] = None): Unit = locked {
    endedTasks.add(task)
    batchQueries.taskEnded(task)
    all.foreach(_.taskEnded(task))
    if (!hasFailed) succeeded(stage, clock.millis())
    why.foreach(why => failed(stage, FailedTask(clock.millis(), why)))
    if (endlessTasks.remove(task)) all.foreach(_.keep(task))
    else if (hasFailed) all.foreach(_.forget(task, clock.millis()))
  }

  private def succeeded(stage: Int, nowMs: Long): Unit = {
    all.foreach(_.succeeded(stage, nowMs))
    begun.allTasks.foreach(_.succeeded(stage, nowMs))
  }

  private def failed(stage: Int, task: FailedTask): Unit = {
    all.foreach(_.failed(stage, task))
    begun.allTasks.foreach(_.failed(stage, task))
  }

  /**
   * An executor has gone. If it was lost, every run that goes on has fewer places for its tasks. Spark may tell twice of one: by itself, and
   * as its cluster manager says. One that it has let go is not lost when the cluster manager tells of it.
   *
   * @param why       none where Spark let it go
   * @param isOverdue whether it no longer answered: then it was lost, whatever was told before
   */
  def executorRemoved(executor: String, why: Option[String], isOverdue: Boolean): Unit = locked {
    if (why.isEmpty) letGo.add(executor)
    why.filter(_ => isOverdue || !letGo.contains(executor)).foreach { why =>
      val lost = LostExecutor(executor, clock.millis(), why)
      all.filterNot(_.stopped).foreach(_.executorLost(lost))
      begun.allTasks.foreach(_.executorLost(lost))
    }
  }

  /** An execution has ended: what its tasks published and was not added does not stand. */
  def executionEnded(plannings: Set[Long]): Unit = locked {
    plannings.foreach(endedPlannings.add)
    batchQueries.ended(plannings)
    all.foreach(_.ended(plannings, clock.millis()))
  }

  /** In the order in which the queries were first seen; of those that are not wanted nothing is read. */
  def snapshot(isWanted: RunFigures => Boolean = _ => true): Seq[QuerySnapshot] = {
    val now = clock.millis()
    val ofBatchQuery = locked(batchQueries.asked(work))()
    ofBatchQuery.foreach { case (owner, _) => update(owner)(_ => ()) } // the first of them shows, too
    val shown = locked(queries.values.filter(isWanted).toList.map { query =>
      (query.snapshot(now), query.stopped, query.soFar(work))
    })
    // Asked outside the lock: Spark's own answers may take a while, and so does a look at each partition.
    shown.map {
      case (query, false, soFar) if query.runId.nonEmpty =>
        query.doing(
          query.runId.flatMap(activity),
          now,
          query.runId.flatMap(uncommitted)
        ).workingSoFar(soFar())
      case (query, _, _) if query.runId.isEmpty =>
        query.workingSoFar(ofBatchQuery.collect {
          case (owner, times) if owner.key.query == query.name => times
        })
      case (query, _, _) => query
    }
  }

  /** The same of the query itself, without its nodes. */
  private def briefly(run: RunFigures): Option[QuerySnapshot] = run.runId.map { id =>
    val now = clock.millis()
    locked(run.brief(now)).doing(briefActivity(id), now, uncommitted(id))
  }

  private def briefly(begun: String): Option[QuerySnapshot] =
    begunAs(begun).map(withTasks(_).doing(briefActivity(begun), clock.millis()))

  /** The same with its nodes, where the parts of an age are made of what these show: each part has a gauge, which asks by itself. */
  private def withAges(run: RunFigures): Option[QuerySnapshot] = run.runId.map { id =>
    val (now, activity) = (clock.millis(), briefActivity(id))
    val known = locked {
      if (run.tellsParts && !activity.exists(_.hasNoEnd)) run.brief(now) else run.snapshot(now)
    }
    known.doing(activity, now)
  }

  private def all: Iterator[RunFigures] = queries.valuesIterator ++ replaced.valuesIterator

  private def showing: Iterable[RunFigures] = queries.values.filterNot(_.stopped)

  private def hasRoom: Boolean = showing.map(_.figures.size).sum < settings.maxNodes

  /** The oldest queries go that may. */
  private def makeRoomBeside(name: String): Unit = {
    val others = showing.filter(query => query.name != name && mayGo(query)).map(_.name).toSeq.iterator
    while (!hasRoom && others.hasNext) forget(others.next())
  }

  private def forgetSome(): Unit =
    queries.values.filter(mayGo).map(_.name).toSeq.dropRight(LiveRuns.QueriesKept).foreach(forget)

  /** What goes on would come back at once, and begin anew. */
  private def mayGo(run: RunFigures): Boolean =
    mayForget(run) && (run.stopped || run.toldMs.forall(clock.millis() - _ >= settings.window.ms))

  private def forget(name: String): Unit = if (queries.remove(name).nonEmpty) {
    begun.hide(name) // all of a name go at once
    shown.removed(name)
    begun.show(name)
  }

  /**
   * All windows of a query share their samples: its nodes forget together. A run that is not kept, as one that another has replaced, shows
   * nothing new.
   */
  private final class Maker(owner: MarkOwner) extends FiguresMaker {
    private def query = owner.key.query
    private def shown =
      if (queries.get(query).exists(_.runId == owner.runId)) LiveRuns.this.shown else FiguresListener.Nowhere

    override def window: WindowSettings = settings.window
    private val samples = WindowSamples(window, clock)

    override def hasRoom: Boolean = LiveRuns.this.hasRoom
    override def hasRoomForTask: Boolean = showing.map(_.taskCount).sum < settings.maxNodes

    /** Each of the nodes that are shown as one has a planning that counts, and so has each execution of a batch query. */
    private def figures(node: String) =
      new LiveFigures(clock, samples, oneCounts = owner.runId.nonEmpty && node != RunFigures.Other)

    override def node(node: String, measure: Measure): LiveFigures = {
      val figures = this.figures(node)
      shown.added(NodeKey(query, node), measure, figures)
      figures
    }

    override def hasRoomForMarkers: Boolean = showing.map(_.markerCount).sum < settings.maxNodes

    override def marker(key: MarkerKey): LiveFigures = {
      val figures = new LiveFigures(clock, samples)
      shown.addedMarker(query, key, figures)
      figures
    }

    override def operator(node: String): OperatorLatency = {
      val latency = new OperatorLatency
      shown.addedOperator(NodeKey(query, node), latency)
      latency
    }

    override def watermark(key: WatermarkKey): Unit =
      shown.addedWatermark(query, key, () => LiveRuns.this.locked(queries.get(query)).flatMap(briefly))

    override def task(task: String, node: Option[String]): LiveFigures = {
      val figures = this.figures(node.getOrElse(RunFigures.Other))
      shown.addedTask(query, task, node, figures)
      figures
    }
  }
}

object LiveRuns {
  val QueriesKept = 100
}
