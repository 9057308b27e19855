package org.apache.spark.sql.latency.application

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

import io.sparklatency.answer.LeftOut
import io.sparklatency.answer.Note
import io.sparklatency.answer.SystemTimeNote
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.PlannedNode
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.time.SystemTime
import io.sparklatency.time.WallClock
import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerApplicationEnd
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.SparkListenerLatencyBatch
import org.apache.spark.sql.latency.SparkListenerLatencyNote
import org.apache.spark.sql.latency.compat.RestResources
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.KeptAnswers
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.latency.metrics.DropwizardSource
import org.apache.spark.sql.latency.metrics.ExecutorClocks
import org.apache.spark.sql.latency.metrics.ExecutorFigures
import org.apache.spark.sql.latency.planning.MarkedApplication
import org.apache.spark.sql.latency.recording.ClockQuestion
import org.apache.spark.sql.latency.recording.EndedQuestion
import org.apache.spark.sql.latency.recording.LatencyAccumulator
import org.apache.spark.sql.latency.recording.PublishedMessage
import org.apache.spark.sql.latency.recording.ReportMessage
import org.apache.spark.sql.latency.recording.RunningTasks
import org.apache.spark.sql.latency.recording.TaskFigures
import org.apache.spark.sql.latency.tracking.LatencyTracker
import org.apache.spark.sql.latency.tracking.LostEnds
import org.apache.spark.sql.latency.tracking.PlannedMarks
import org.apache.spark.sql.latency.tracking.Problems
import org.apache.spark.sql.latency.tracking.QueryActivity
import org.apache.spark.sql.latency.tracking.QueryNames
import org.apache.spark.sql.latency.tracking.ReadingsOnDriver
import org.apache.spark.sql.latency.tracking.RunNotes
import org.apache.spark.sql.latency.tracking.TaskClocks
import org.apache.spark.sql.latency.tracking.UncommittedRecords
import org.apache.spark.sql.latency.ui.LatencyTab
import org.apache.spark.ui.SparkUI

/**
 * All of ours in one driver. This is the one place that knows every room and joins them: figures, gauges, the listener, the
 * archive and the tab. Each application has one, made by the plugin or by the first mark, and gone when the application ends.
 *
 * Costs one listener queue with its thread, one metrics source and one tab. Nothing here runs for a record. Thread-safe:
 * planning threads, the UI's threads, RPC and the user's thread call it.
 */
final class LatencyApplication private (context: SparkContext) extends MarkedApplication {
  private val settings = LatencyConf(context.getConf)
  settings.validate() // before anything of ours is registered

  private val uncommitted = new UncommittedRecords
  private val plannedMarks = new PlannedMarks
  private val names = new QueryNames
  private val activity = new QueryActivity(context, () => names.queries)
  private val source = new DropwizardSource
  private val runs =
    new LiveRuns(
      WallClock,
      settings.figures,
      source,
      uncommitted.oldest,
      activity.of,
      activity.known,
      new ReadingsOnDriver(executor => clocks.recorded(executor)),
      store.begun(_)
    )(_.stopped)
  private val problems = new Problems
  private val notes = new RunNotes
  private val made = new KeptAnswers
  private val archive =
    new BatchArchive(context.statusStore.store, settings.historyBatches, settings.figures.window, used = true)
  private val clocks = new ExecutorClocks(SystemTime, source, context.isLocal)
  private val tracker = new LatencyTracker(
    runs,
    names,
    uncommitted,
    plannedMarks,
    problems,
    notes,
    new TaskClocks(clocks.recorded),
    batch => context.listenerBus.post(SparkListenerLatencyBatch(batch))
  )

  /** How many events Spark has dropped, because our queue was full: then we have been too slow. */
  private val dropped = context.listenerBus.metrics.metricRegistry
    .counter(s"queue.${LatencyApplication.Queue}.numDroppedEvents")

  private val lostEnds = new LostEnds(names, () => dropped.getCount, WallClock)(end =>
    Seq(archive, tracker).foreach(_.onOtherEvent(end))
  )

  context.env.metricsSystem.registerSource(source)
  // A queue of our own: another listener that is slow or overrun cannot make us lose an execution. What is stored comes first:
  // how a run has ended is known before the run is taken for ended.
  for (listener <- Seq(archive, tracker, clocks, lostEnds, new EndListener))
    context.listenerBus.addToQueue(listener, LatencyApplication.Queue)
  RunningTasks.receiveBy(runs.publish, runs.report)
  context.ui.foreach { ui =>
    LatencyTab.attachTo(ui, () => store)
    RestResources.find(ui)
  }

  /** What every surface reads. */
  def store: LatencyStore =
    new LatencyStore(
      context.statusStore.store,
      Some(runs),
      () => clocks.all,
      activity.of,
      made,
      () => dropped.getCount
    )

  /**
   * The same with all executions that have ended. Their events arrive in a queue of ours, so this waits for what is in it, at most one
   * second. Called in the user's thread, in one that analyzes a statement, or in that of a listener of the user's: other queues are
   * not waited for.
   */
  def settledStore(): LatencyStore = {
    settle(seconds = 1)
    store
  }

  /** Waits until all that was told before is in the figures, and what is made of it on its way to the event log. */
  def settle(seconds: Long): Unit = {
    val until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds)
    // What a listener of ours makes of an event it posts, behind the others.
    (1 to 2).foreach { _ =>
      val last = new LatencyApplication.LastSoFar
      context.listenerBus.post(last)
      last.passed.await(until - System.nanoTime(), TimeUnit.NANOSECONDS)
    }
  }

  override def nameOf(query: StreamExecution): String = names.of(query)
  override def taskFigures: TaskFigures = ExecutorFigures
  override def planned(figures: LatencyAccumulator): Unit = uncommitted.opened(figures)
  override def planned(nodes: Seq[PlannedNode]): Unit = runs.planned(nodes)
  override def planned(plan: SparkPlan, execution: Long): Unit = plannedMarks.planned(plan, execution)
  override def warned(run: String, problem: String): Unit = found(run, SystemTimeNote.of(problem))
  override def tellOnce(query: String, problem: String): Unit = problems.tellOnce(query, problem)

  override def leftOut(query: String, run: Option[String], text: String, isChosen: Boolean): Unit = {
    run.foreach(found(_, LeftOut.note(text)))
    problems.tellOnce(query, text, isChosen)
  }

  private def found(run: String, note: Note): Unit =
    if (notes.add(run, note)) context.listenerBus.post(SparkListenerLatencyNote(run, note))

  /**
   * The last listener of our queue. Takes all of ours away when the application ends, in the thread of our queue: MBeans, and
   * the reference to the context. What is shown cannot outlive it in this process.
   */
  private final class EndListener extends SparkListener {
    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case last: LatencyApplication.LastSoFar => last.passed.countDown()
      case _ =>
    }

    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = {
      LatencyApplication.release(context)
      close()
    }
  }

  private def close(): Unit = {
    runs.close()
    clocks.close()
  }
}

/**
 * Finds the application of a context: at most one in a process at a time, as with Spark's own context. Thread-safe, one short
 * lock. It is held while the first call makes the application.
 */
object LatencyApplication extends MarkedApplication.Finder {
  private[latency] val Queue = "sparklatency"

  /** Goes through the queue behind all that was posted before it, and not into the event log. */
  private final class LastSoFar extends SparkListenerEvent {
    val passed = new CountDownLatch(1)
    override protected[spark] def logEvent: Boolean = false
  }

  private var current: Option[(SparkContext, LatencyApplication)] = None

  override def of(context: SparkContext): MarkedApplication =
    if (context.isStopped) MarkedApplication.Ended else running(context)

  /** The application of this context, which has not been stopped. The first call makes it. */
  def running(context: SparkContext): LatencyApplication = synchronized {
    existing(context).getOrElse {
      if (context.isStopped) throw new IllegalStateException("the SparkContext has been stopped")
      // Of the one before the end may not have come through a queue that was full.
      current.foreach { case (_, earlier) => earlier.close() }
      val application = new LatencyApplication(context)
      current = Some(context -> application)
      application
    }
  }

  /**
   * What a UI reads. The running figures are in it where this process is the driver of the application that the UI shows.
   *
   * @throws IllegalArgumentException when a setting of that driver is not valid, so that it has no figures
   */
  private[spark] def storeOf(ui: SparkUI): LatencyStore = {
    val running = ui.sc.flatMap(existing)
    if (running.isEmpty) ui.sc.foreach(context => LatencyConf(context.getConf).validate())
    running.fold(LatencyHistory.store(ui))(_.store)
  }

  /**
   * Takes what an executor's plugin has sent: figures of a task that still runs. Answers what it has asked: which queries have
   * ended, and what time it is. There is no answer to anything else.
   */
  def receive(message: AnyRef): Option[AnyRef] = synchronized(current).flatMap { case (_, it) =>
    message match {
      case PublishedMessage(part) =>
        it.runs.publish(part)
        None
      case ReportMessage(report) =>
        it.runs.report(report)
        None
      case EndedQuestion(runs) => Some(runs.filter(it.runs.hasEnded))
      case ClockQuestion.Received(question) => Some(it.clocks.answer(question))
      case _ => None
    }
  }

  private def existing(context: SparkContext): Option[LatencyApplication] = synchronized {
    current.collect { case (`context`, application) => application }
  }

  private def release(context: SparkContext): Unit = synchronized {
    if (existing(context).nonEmpty) {
      current = None
      RunningTasks.stopReceiving()
    }
  }
}
