package org.apache.spark.sql.latency.metrics

import scala.util.control.NonFatal

import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.time.WallClock
import org.apache.spark.SparkContext
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.recording.TaskFigures

/**
 * What this executor did. Every finished attempt at a task counts, also one that the driver later sets aside. The first task
 * that records registers the source, so an executor needs no preparation.
 *
 * Costs a merge of two summaries under one lock, when a recorder publishes and when a task ends. Keeps at most a hundred
 * queries, and as many nodes as the driver may show. Thread-safe: the threads of tasks call it, and that of [[RunningTasks]].
 */
object ExecutorFigures extends TaskFigures with Logging {

  @transient private lazy val runs: Option[LiveRuns] =
    try {
      val (env, source) = (SparkEnv.get, new DropwizardSource)
      // No executor is told that a query has stopped.
      val runs = new LiveRuns(WallClock, LatencyConf(env.conf).figures, source)(_ => true)
      env.metricsSystem.registerSource(source)
      Some(runs)
    } catch {
      case NonFatal(e) =>
        logWarning("This executor's latencies are not shown in its metrics.", e)
        None
    }

  /** In local mode the executor is the driver's process, and the driver's own source says all there is to say. */
  override def add(owner: MarkOwner, summary: LatencySummary): Unit =
    if (SparkEnv.get.executorId != SparkContext.DRIVER_IDENTIFIER)
      runs.foreach(_.update(owner)(_.add(owner.key.node, owner.measure, summary)))
}
