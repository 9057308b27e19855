package org.apache.spark.sql.latency.metrics

import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.TaskPlace
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.time.WallClock
import org.apache.spark.SparkContext
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.recording.EndedQuestion
import org.apache.spark.sql.latency.recording.TaskFigures

/**
 * What this executor did. Every finished attempt at a task counts, also one that the driver later sets aside. The first task
 * that records registers the source, so an executor needs no preparation. With the plugin it learns which queries have ended:
 * see [[EndedRuns]].
 *
 * Costs a merge of two summaries under one lock, when a recorder publishes and when a task ends. Keeps at most a hundred
 * queries, and as many nodes as the driver may show. Thread-safe: the threads of tasks call it, that of
 * [[org.apache.spark.sql.latency.recording.RunningTasks]], and that of [[EndedRuns]].
 */
object ExecutorFigures extends TaskFigures with Logging {
  // Scala 2.12 sends an object with its fields, and takes its own for it where it arrives.
  @transient @volatile private var known: Option[LiveRuns] = None
  @transient @volatile private var asking: Option[EndedRuns] = None

  @transient private lazy val runs: Option[LiveRuns] = {
    known =
      try {
        val (env, source) = (SparkEnv.get, new DropwizardSource.OfExecutor)
        // Without the plugin no executor is told that a query has stopped.
        val runs = new LiveRuns(WallClock, LatencyConf(env.conf).figures, source)(_ => true)
        env.metricsSystem.registerSource(source)
        Some(runs)
      } catch {
        case OurFailure(e) =>
          logWarning("This executor's latencies are not shown in its metrics.", e)
          None
      }
    known
  }

  /** In local mode the executor is the driver's process, and the driver's own source says all there is to say. */
  override def add(
      owner: MarkOwner,
      planning: Long,
      task: Option[TaskPlace],
      summary: LatencySummary
  ): Unit =
    if (!isDriver) runs.foreach(add(_, owner, planning, task, summary))

  private def isDriver: Boolean = SparkEnv.get.executorId == SparkContext.DRIVER_IDENTIFIER

  private[latency] def add(
      runs: LiveRuns,
      owner: MarkOwner,
      planning: Long,
      task: Option[TaskPlace],
      summary: LatencySummary
  ): Unit = runs.ofTask(owner, planning)(_.add(owner.key.node, owner.measure, summary, task))

  /** The runs that this executor shows. */
  private[latency] def running: Seq[String] = known.toSeq.flatMap(_.running)

  private[latency] def ended(run: String): Unit = known.foreach(_.stopped(run))

  /** The plugin of this executor says how to ask the driver. */
  def askBy(ask: AnyRef => AnyRef): Unit =
    if (!isDriver)
      asking = Some(new EndedRuns(
        () => running,
        runs =>
          ask(EndedQuestion(runs)) match {
            case ended: Array[String] => ended
            case _ => Array.empty
          },
        ended
      ))

  def stopAsking(): Unit = {
    asking.foreach(_.stop())
    asking = None
  }
}
