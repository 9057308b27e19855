package org.apache.spark.sql.latency

import java.time.Instant
import java.util.UUID
import java.util.concurrent.TimeoutException

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import io.sparklatency.BatchRecord
import io.sparklatency.QuerySnapshot
import io.sparklatency.RunStatus
import io.sparklatency.WallClock
import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkContext
import org.apache.spark.Success
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerApplicationEnd
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.latency.ui.LatencyTab
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryProgressEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.sql.streaming.StreamingQueryProgress

/**
 * The driver's figures. When an execution ends well (a micro-batch, or a batch query), what its marks recorded is taken from
 * their accumulators, which hold each partition once, and added to the figures of its query. An execution that failed is left
 * alone: its results were not committed, and it will be run again.
 */
final class LatencyTracker(context: SparkContext) extends SparkListener with Logging {
  import LatencyTracker._

  private val settings = LatencyConf(context.getConf)
  settings.validate() // before anything of ours is registered

  private val source = new LatencySource(WallClock, settings.figures)(_.stopped)
  private val names = mutable.Map.empty[UUID, String]
  private val told = mutable.LinkedHashSet.empty[(String, String)]

  context.env.metricsSystem.registerSource(source)
  // A queue of our own: another listener that is slow or overrun cannot make us lose an execution. What is stored comes first:
  // how a run has ended is known before the run is taken for ended.
  context.listenerBus.addToQueue(new StoredBatches(context.statusStore.store, settings.historyBatches), Queue)
  context.listenerBus.addToQueue(this, Queue)
  context.ui.foreach(LatencyTab.attachTo)

  /** A class of another Spark line, say, that is not there would end the application. */
  override def onOtherEvent(event: SparkListenerEvent): Unit =
    try take(event)
    catch {
      case e: LinkageError => tellOnce("any", s"an event was lost, which this Spark does not go with: $e")
    }

  private def take(event: SparkListenerEvent): Unit = event match {
    case end: SparkListenerSQLExecutionEnd if end.qe != null => executionEnded(end)
    case end: QueryProgressEvent => committed(end.progress)
    case end: QueryTerminatedEvent =>
      forget(end.runId)
      OpenPlannings.closed(end.runId.toString)
      source.stopped(end.runId.toString)
    case _ =>
  }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
    source.taskEnded(end.taskInfo.taskId, hasFailed = end.reason != Success)

  override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = {
    release(context)
    source.close()
  }

  /** Waits, a second at the most, until the executions that have ended are counted: their events arrive in a queue. */
  def settle(): Unit =
    try context.listenerBus.waitUntilEmpty(1000)
    catch { case _: TimeoutException => }

  def snapshot(): Seq[QuerySnapshot] = source.snapshot()

  def isRunning(run: String): Boolean = source.ofRun(run)(!_.stopped).getOrElse(false)

  def status(query: QuerySnapshot): Option[RunStatus] = store.status(query)

  /** By the id of a run; or by a query's name or id, and then its newest run. */
  def query(key: String): Option[QuerySnapshot] = store.query(key)

  /** The names of all queries that can be found so. */
  def queryNames: Seq[String] = store.queryNames

  /** The last batches of a query, found by the same, oldest first. None where no such query is known. */
  def history(key: String, limit: Int): Option[Seq[BatchRecord]] =
    query(key).map(store.history(_, limit))

  private def store = new LatencyStore(context.statusStore.store, settings, Some(this))

  private def forget(run: UUID): Unit = synchronized {
    names.remove(run).foreach(name => told.filterInPlace { case (query, _) => query != name })
  }

  /** Every batch is planned anew, and would say the same. */
  def tellOnce(query: String, problem: String): Unit =
    if (synchronized(told.size < ToldAtMost && told.add(query -> problem)))
      logWarning(s"query '$query': $problem")

  private def executionEnded(end: SparkListenerSQLExecutionEnd): Unit = {
    // What failed before it was planned has no plan, and would fail once more here.
    val marks = Try(MarkedPlan.marks(end.qe.executedPlan)).getOrElse(Nil)
    val isWell = end.executionFailure.isEmpty
    val added = end.qe match {
      case batch: IncrementalExecution =>
        val run = batch.runId.toString
        val own = marks.filter(_.figures.owner.runId.contains(run))
        val others = marks.filter(_.figures.owner.runId.isEmpty)
        own.headOption.foreach(mark => source.update(mark.figures.owner)(_ => ()))
        val all = own ++ source.ofRun(run)(_.release(own)).getOrElse(Nil)
        if (isWell) {
          source.ofRun(run)(addBatch(_, all, batch, WallClock.at(end.time)))
          addExecution(others, end)
        }
        all ++ others
      case _ =>
        val (withinBatch, others) = marks.partition(_.figures.owner.runId.nonEmpty)
        if (isWell) {
          withinBatch.groupBy(_.figures.owner.runId).values.map(marks => marks.head.figures.owner -> marks)
            .filterNot { case (owner, _) => owner.runId.exists(source.hasEnded) }
            .foreach { case (owner, marks) => executionDropped(source.update(owner)(_.hold(marks))) }
          addExecution(others, end)
        }
        if (isWell) others else marks
    }
    executionDropped(added)
  }

  /** Of these marks nothing more is to come, and what was not added does not stand. */
  private def executionDropped(marks: Seq[PlannedMark]): Unit = {
    val plannings = marks.map(_.figures.id).toSet
    OpenPlannings.closed(plannings)
    source.executionEnded(plannings)
  }

  private def addBatch(
      query: QueryFigures,
      marks: Seq[PlannedMark],
      execution: IncrementalExecution,
      atMs: Long
  ): Unit = if (marks.nonEmpty) {
    val batch = query.batch(execution.currentBatchId)
    query.add(marks, batch)
    batch.committed(atMs)
    batch.watermarks = Try(StreamWatermarks.after(execution, batch.watermarks)).getOrElse(batch.watermarks)
  }

  /** The marks of an execution outside a streaming query. Its results can be seen when it ends. */
  private def addExecution(marks: Seq[PlannedMark], end: SparkListenerSQLExecutionEnd): Unit =
    if (marks.exists(!_.figures.isSpent)) {
      val committed = source.update(marks.head.figures.owner) { query =>
        val batch = query.batch(end.executionId)
        query.add(marks, batch)
        batch.committed(WallClock.at(end.time))
        val startMs = end.qe.tracker.phases.values.map(_.startTimeMs).minOption
        query.commit(end.executionId)(record => record.copy(startMs = startMs.getOrElse(record.startMs)))
      }
      committed.foreach(post)
    }

  /** A micro-batch is over, its sink has what it gave. */
  private def committed(progress: StreamingQueryProgress): Unit =
    source.ofRun(progress.runId.toString)(_.commit(progress.batchId) { record =>
      record.copy(
        startMs = Instant.parse(progress.timestamp).toEpochMilli,
        inputRows = progress.numInputRows,
        durationsMs = progress.durationMs.asScala.view.mapValues(_.toLong).toMap,
        watermarkMs =
          Option(progress.eventTime.get("watermark")).map(Instant.parse(_).toEpochMilli).filter(_ > 0),
        droppedLate = progress.stateOperators.map(_.numRowsDroppedByWatermark).sum
      )
    }).flatten.foreach(post)

  private def post(batch: BatchRecord): Unit = context.listenerBus.post(SparkListenerLatencyBatch(batch))

  /**
   * The name under which a run of a query goes as long as it lasts: its own, or its id where it has none, or where a query of
   * another session has the same name and runs.
   */
  private[latency] def nameOf(query: StreamingQuery, isRunning: UUID => Boolean): String = synchronized {
    names.getOrElseUpdate(
      query.runId, {
        val taken = names.exists { case (run, name) => name == query.name && isRunning(run) }
        if (query.name == null || taken) query.id.toString else query.name
      }
    )
  }
}

object LatencyTracker {

  private val Queue = "sparklatency"
  private val ToldAtMost = 1000

  private var current: Option[(SparkContext, LatencyTracker)] = None

  /** The tracker of this application, installed when first asked for. */
  def of(context: SparkContext): LatencyTracker = synchronized {
    existing(context).getOrElse {
      val tracker = new LatencyTracker(context)
      current = Some(context -> tracker)
      tracker
    }
  }

  def existing(context: SparkContext): Option[LatencyTracker] = synchronized {
    current.collect { case (`context`, tracker) => tracker }
  }

  /** Figures of a task that still runs. */
  private[latency] def receive(part: PublishedPart): Unit =
    synchronized(current).foreach { case (_, tracker) => tracker.source.publish(part) }

  /** The same, as an executor sent them. */
  def receive(message: AnyRef): Unit = PublishedPart.of(message).foreach(receive)

  private def release(context: SparkContext): Unit = synchronized {
    current = current.filterNot { case (other, _) => other eq context }
  }
}
