package org.apache.spark.sql.latency.tracking

import java.util.Collections
import java.util.UUID
import java.util.WeakHashMap

import scala.jdk.CollectionConverters._

import io.sparklatency.answer.Progress
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Phase
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.time.WallClock
import org.apache.spark.JobExecutionStatus
import org.apache.spark.SparkContext
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.compat.TriggerStart
import org.apache.spark.sql.latency.planning.CurrentQuery
import org.apache.spark.sql.streaming.StreamingQueryProgress

/**
 * What queries do right now: Spark's own status of each, since when its trigger runs, and how far its tasks are.
 *
 * Keeps nothing but what the last progress of each query told. A call costs a look at the running queries and stages, and one at the jobs
 * where a stage runs. Thread-safe: whoever reads figures calls it.
 *
 * @param marked queries that Spark's own list may lack: each session that shares no state with others has a list of its own
 */
private[latency] final class QueryActivity(context: SparkContext, marked: () => Seq[StreamExecution]) {
  import QueryActivity._

  /** Some twenty gauges of a query ask at each look of a sink, and the offsets of many partitions are long. */
  private val left =
    Collections.synchronizedMap(new WeakHashMap[StreamingQueryProgress, Seq[Activity.Left]])

  /** None of a run that is not active, and where Spark does not tell. */
  def of(run: String): Option[Activity] =
    known(run).map(activity => if (activity.sinceMs.isEmpty) activity else activity.copy(tasks = tasks(run)))

  /** The same without its tasks, which cost a look at all jobs that Spark keeps. */
  def known(run: String): Option[Activity] =
    try find(run).map(activity)
    catch { case OurFailure(_) => None }

  private def find(run: String): Option[StreamExecution] = {
    val id = UUID.fromString(run)
    queries.find(_.runId == id)
  }

  private def queries: Seq[StreamExecution] =
    SparkSession.getDefaultSession.orElse(SparkSession.getActiveSession).toSeq
      .flatMap(_.sharedState.activeStreamingQueries.values.asScala) ++ marked().filter(_.isActive)

  private def activity(query: StreamExecution): Activity = {
    val batch =
      TriggerStart.batchOf(query) // before its status: an epoch that is committed meanwhile is not late
    val (status, last) = (query.status, Option(query.lastProgress))
    val lasts = CurrentQuery.lastsMs(query.trigger)
    // A trigger that finds no data is over a moment after it has said so.
    val waits = !status.isDataAvailable && status.message == Waiting
    val runs = status.isTriggerActive && !waits
    val since = Option.when(runs)(TriggerStart.of(query)).filter(_ > 0)
      .map(ms => (WallClock.millis() - WallClock.at(ms)).max(0))
    val late = LateEpoch.of(query.trigger, status.message, batch, since.getOrElse(0L))
    Activity(
      late.fold(batch)(_.epoch),
      late.fold(status.message)(_.text),
      late.map(_.sinceMs).orElse(since.filter(ms => lasts.forall(ms - Progress.StalledMs > _))),
      status.isDataAvailable,
      last.exists(_.durationMs.containsKey(Phase.AddBatch)),
      hasNoEnd = lasts.nonEmpty,
      left = last.fold(Seq.empty[Activity.Left])(left.computeIfAbsent(_, RecordsLeft.by(_)))
    )
  }

  /** Of the stages that have begun, in the jobs that run: others may be left out, where their output is there. Spark names the group of a query's jobs after the run. */
  private def tasks(run: String): Option[Activity.Tasks] =
    try tasksOf(run)
    catch { case OurFailure(_) => None }

  private def tasksOf(run: String): Option[Activity.Tasks] = {
    // Between two batches no stage runs, and for a moment between two stages. A look at the jobs sorts all that Spark keeps.
    val jobs = if (context.statusStore.activeStages().isEmpty) Nil else context.statusStore.jobsList(Running)
    val stages = for {
      job <- jobs if job.jobGroup.contains(run)
      stage <- job.stageIds.flatMap(context.statusTracker.getStageInfo(_)) if stage.submissionTime > 0
    } yield stage
    Option.when(stages.nonEmpty)(
      Activity.Tasks(
        stages.map(_.numCompletedTasks).sum,
        stages.map(_.numActiveTasks).sum,
        stages.map(_.numTasks).sum
      )
    )
  }
}

private object QueryActivity {

  val Running = Collections.singletonList(JobExecutionStatus.RUNNING)

  /** Spark's own words. */
  val Waiting = "Waiting for data to arrive"
}
