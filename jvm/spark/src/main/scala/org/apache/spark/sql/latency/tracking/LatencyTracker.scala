package org.apache.spark.sql.latency.tracking

import java.time.Instant

import scala.collection.mutable
import scala.util.Try

import io.sparklatency.figures.Batch
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.OpenBatch
import io.sparklatency.figures.RunFigures
import io.sparklatency.path.BatchFilling
import io.sparklatency.time.WallClock
import org.apache.spark.Success
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.apache.spark.scheduler.SparkListenerJobStart
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.planning.CurrentQuery
import org.apache.spark.sql.latency.planning.StatefulOperators
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryIdleEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryProgressEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryStartedEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.sql.streaming.StreamingQueryProgress

/**
 * Turns the application's events into figures. An execution is a micro-batch or a batch query. When it ends well, the tracker
 * takes from the accumulators what its marks recorded, each partition once, and adds it to the figures of its query. It
 * leaves alone an execution that failed: its results were not committed, and it will be run again.
 *
 * Costs nothing per record. Per task: one entry in a set, under the lock of [[LiveRuns]]. Per execution: a walk over its
 * plan, and a merge of its summaries (0.4 to 0.8 seconds for 10,000 partitions at twenty nodes). All that is on one thread,
 * that of a listener queue of our own, so Spark's own listeners do not wait for it. Only that thread may call it.
 *
 * @param plannedMarks what was planned within an execution, and may have run there without being in its plan
 * @param post         puts a batch whose results are committed on the listener bus, and so into the event log
 */
private[latency] final class LatencyTracker(
    runs: LiveRuns,
    names: QueryNames,
    uncommitted: UncommittedRecords,
    plannedMarks: PlannedMarks,
    problems: Problems,
    notes: RunNotes,
    clocks: TaskClocks,
    post: Batch => Unit
) extends SparkListener {
  private val admissions = new Admissions
  private val foreachBatch = mutable.Map.empty[String, ForeachBatchMarks]
  private val startedMs = mutable.LongMap.empty[Long] // of executions that go on

  override def onOtherEvent(event: SparkListenerEvent): Unit = orLost(take(event))

  /** On another Spark line a class may be missing, and a plan may be too deep. Without the catch such an error would end the application. */
  private def orLost(told: => Unit): Unit =
    try told
    catch {
      case e: StackOverflowError =>
        problems.tellOnce("any", s"an execution is too deep to look at, and is lost: $e")
      case e: LinkageError => problems.tellOnce("any", s"this Spark does not fit, and an event was lost: $e")
    }

  private def take(event: SparkListenerEvent): Unit = event match {
    case start: SparkListenerSQLExecutionStart =>
      startedMs(start.executionId) = WallClock.at(start.time)
      plannedMarks.began(start.executionId, start.rootExecutionId)
    case end: SparkListenerSQLExecutionEnd =>
      try if (end.qe != null) executionEnded(end)
      finally {
        startedMs -= end.executionId
        runs.batchQueryEnded(end.executionId)
      }
    case start: QueryStartedEvent =>
      val id = start.id.toString
      runs.began(Option(start.name).getOrElse(id), start.runId.toString, id)
    case idle: QueryIdleEvent =>
      admissions.foundNothing(idle.runId.toString, Instant.parse(idle.timestamp).toEpochMilli)
    case end: QueryProgressEvent => committed(end.progress)
    case end: QueryTerminatedEvent =>
      val run = end.runId.toString
      names.forget(end.runId).foreach(problems.forget)
      notes.forget(run)
      uncommitted.closed(run)
      foreachBatch.remove(run)
      admissions.forget(run)
      runs.stopped(run)
    case _ =>
  }

  override def onJobStart(start: SparkListenerJobStart): Unit = orLost(jobStarted(start))

  /** What runs within a streaming query shows there. */
  private def jobStarted(start: SparkListenerJobStart): Unit = {
    val stages = start.stageInfos.map(_.stageId)
    Option(start.properties).foreach { settings =>
      val execution = Option(settings.getProperty(SQLExecution.EXECUTION_ID_KEY)).map(_.toLong)
      val query = execution.flatMap(queryOf).orElse(CurrentQuery.idOf(settings))
      // A thread of a pool may have the id of one that is over.
      val goesOn = execution.filter(SQLExecution.getQueryExecution(_) != null)
      query.fold(goesOn.foreach(runs.batchQueryStarted(_, stages)))(runs.jobStarted(_, stages))
    }
  }

  /**
   * The query in whose session an execution was planned, as its marks have it: a thread of a pool has the id of another. None where the
   * execution is over by now: then the query of the thread has to do, which may be another's.
   */
  private def queryOf(execution: Long): Option[String] =
    Option(SQLExecution.getQueryExecution(execution))
      .flatMap(planned => CurrentQuery.runningIn(planned.sparkSession)).map(_.id.toString)

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = orLost(taskEnded(end))

  private def taskEnded(end: SparkListenerTaskEnd): Unit = {
    val task = end.taskInfo
    runs.taskEnded(task.taskId, end.stageId, hasFailed = end.reason != Success, TaskFailure.of(end.reason))
    clocks.ended(task.taskId, task.executorId, task.launchTime, task.finishTime)
  }

  override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit =
    orLost {
      val (executor, reason) = (removed.executorId, removed.reason)
      runs.executorRemoved(executor, ExecutorLoss.of(reason), ExecutorLoss.isOverdue(reason))
    }

  private def executionEnded(end: SparkListenerSQLExecutionEnd): Unit = {
    // What failed before it was planned has no plan: who asks for it plans once more, here for all to wait. Spark tells of its start when
    // there is one.
    val hasPlan = isWell(end) || startedMs.contains(end.executionId)
    val marks = if (hasPlan) Try(ExecutedMarks.of(end.qe.executedPlan)).getOrElse(Nil) else Nil
    val within = plannedMarks.ended(end.executionId, marks)
    val (read, unread) = within.marks.partition(_.hasRead)
    dropped(unread)
    dropped(end.qe match {
      case batch: IncrementalExecution => microBatchEnded(batch, marks, read, end)
      case _ =>
        val (again, once) = read.partition(mark => within.nodes(mark.node))
        again ++ otherExecutionEnded(marks ++ once.map(besideEnds(marks)), end)
    })
  }

  /**
   * Gives back the marks from which nothing more is to come.
   *
   * @param within those that foreachBatch ran in no execution of their own, and those of stages that an adaptive plan has dropped. Nothing
   *               within foreachBatch is marked automatically, so that tells them apart
   */
  private def microBatchEnded(
      batch: IncrementalExecution,
      marks: Seq[ExecutedMark],
      within: Seq[ExecutedMark],
      end: SparkListenerSQLExecutionEnd
  ): Seq[ExecutedMark] = {
    val run = batch.runId.toString
    val own = marks.filter(_.figures.owner.runId.contains(run))
    val (ofStages, ran) =
      within.partition(mark => mark.isAutomatic && mark.figures.owner.runId.contains(run))
    val gone = ofStages.map(besideEnds(own))
    val (inner, others) = (marks.filter(_.figures.owner.runId.isEmpty) ++ ran)
      .partition(_.figures.owner.runId.contains(run))
    (gone ++ own).headOption.foreach(mark => runs.update(mark.figures.owner)(_ => ()))
    own.map(_.figures.id).minOption.foreach(first => runs.ofRun(run)(_.endedBefore(first)))
    if (inner.nonEmpty) hold(run, inner)
    val later = foreachBatch.get(run).toSeq.flatMap(_.release(own))
    val all = gone ++ own ++ later
    if (isWell(end)) {
      if (all.nonEmpty) addBatch(run, all, firstOf(later), batch, end)
      addExecution(others, end)
    }
    all ++ others
  }

  /**
   * The same for a batch query, and for an action inside foreachBatch. The marks of such an action belong to the run of a
   * query.
   */
  private def otherExecutionEnded(
      marks: Seq[ExecutedMark],
      end: SparkListenerSQLExecutionEnd
  ): Seq[ExecutedMark] = {
    val (withinBatch, others) = marks.partition(_.figures.owner.runId.nonEmpty)
    if (isWell(end)) {
      withinBatch.groupBy(_.figures.owner.runId).foreach { case (run, marks) =>
        run.filterNot(runs.hasEnded).foreach(hold(_, marks))
      }
      addExecution(others, end)
      others
    } else marks
  }

  /** What would have come behind a stage that the plan does not have any more nobody sees: the plan's ends stand for it. */
  private def besideEnds(plan: Seq[ExecutedMark])(mark: ExecutedMark): ExecutedMark = {
    val ends = plan.filter(_.isLast).map(_.node)
    if (mark.isAutomatic && ends.nonEmpty) mark.copy(isPassedOn = !ends.contains(mark.node)) else mark
  }

  /** The nodes to which rows of foreachBatch's DataFrame come with no other on their way. */
  private def firstOf(marks: Seq[ExecutedMark]): Seq[String] = marks.filter(_.begins).map(_.node).distinct

  private def hold(run: String, marks: Seq[ExecutedMark]): Unit = {
    runs.update(marks.head.figures.owner)(_ => ())
    dropped(foreachBatch.getOrElseUpdate(run, new ForeachBatchMarks).hold(marks))
  }

  private def isWell(end: SparkListenerSQLExecutionEnd): Boolean = end.executionFailure.isEmpty

  /**
   * Nothing more comes from these marks. What was not added does not stand. But one that several actions of foreachBatch read, as that of a
   * DataFrame that they keep, goes on until the batch ends, though one of them fails.
   */
  private def dropped(marks: Seq[ExecutedMark]): Unit = {
    val plannings = marks.filterNot(isHeld).map(_.figures.id).toSet
    uncommitted.closed(plannings)
    runs.executionEnded(plannings)
  }

  private def isHeld(mark: ExecutedMark): Boolean =
    mark.figures.owner.runId.flatMap(foreachBatch.get).exists(_.holds(mark))

  /**
   * Only the figures are under the lock: what a plan and its sources say may take a while.
   *
   * @param behind the nodes that come first behind its plan
   */
  private def addBatch(
      run: String,
      marks: Seq[ExecutedMark],
      behind: Seq[String],
      execution: IncrementalExecution,
      end: SparkListenerSQLExecutionEnd
  ): Unit = {
    def added(query: RunFigures): OpenBatch = {
      val batch = query.batch(execution.currentBatchId)
      add(query, marks, batch)
      batch
    }
    runs.ofRun(run)(added).foreach { batch =>
      batch.committed(CommitTime.of(end))
      batch.ran(end.executionId)
      batch.holdsRecords = StatefulOperators.holdsRecords(execution.executedPlan)
      batch.awaitsWatermark = StatefulOperators.awaitsWatermark(execution.executedPlan)
      batch.usesWatermark =
        Try(StatefulOperators.usesWatermark(execution.executedPlan)).getOrElse(batch.usesWatermark)
      batch.held = Try(HeldRecords.of(execution.executedPlan, behind)).getOrElse(batch.held)
      val arrivals = marks.map(_.figures).filter(_.comesIn)
      if (arrivals.nonEmpty && arrivals.forall(_.comesInByAnother))
        batch.happenedMs = Try(SourceWatermarks.meanEventTimeMs(execution)).toOption.flatten
      Try(admissions.executed(run, execution, CurrentQuery.ran(execution)))
      batch.watermarks = Try(SourceWatermarks.after(execution, batch.watermarks)).getOrElse(batch.watermarks)
    }
  }

  private def add(query: RunFigures, marks: Seq[ExecutedMark], batch: OpenBatch): Unit = {
    val taken = marks.map(_.take())
    query.add(taken, batch, clocks.of(taken))
  }

  /** Adds the marks of an execution outside a streaming query. Its results can be seen when it ends. */
  private def addExecution(marks: Seq[ExecutedMark], end: SparkListenerSQLExecutionEnd): Unit =
    if (marks.exists(!_.figures.isSpent)) {
      val committed = runs.update(marks.head.figures.owner) { query =>
        val batch = query.batch(end.executionId)
        add(query, marks, batch)
        batch.committed(CommitTime.of(end))
        batch.ran(end.executionId)
        query.commit(end.executionId)(batch =>
          batch.copy(startMs = startedMs.getOrElse(end.executionId, batch.startMs))
        )
      }
      committed.foreach(post)
    }

  /** A micro-batch is over: its sink has taken the results. */
  private def committed(progress: StreamingQueryProgress): Unit = {
    val admission = admissions.ended(progress)
    val told = new SparkProgress(progress)
    runs.ofRun(progress.runId.toString)(run =>
      run.commit(progress.batchId) { batch =>
        batch.copy(
          admission = Some(admission),
          before = for (earlier <- run.before(batch); admission <- earlier.admission)
            yield BatchFilling.of(earlier, admission),
          startMs = told.startMs,
          inputRows = progress.numInputRows,
          durationsMs = told.durationsMs,
          watermarkMs = told.watermarkMs,
          droppedLate = told.droppedLate
        )
      }
    ).flatten.foreach(post)
  }
}
