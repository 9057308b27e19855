package org.apache.spark.sql.latency.recording

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.TaskPlace
import io.sparklatency.recording.LatencySummary

/**
 * Shows in this process what its tasks record. It travels with the accumulators. So an executor that nobody has prepared,
 * because only `--jars` was given, finds it there. An implementation must be an object without state of its own to send.
 *
 * Called when a recorder publishes and when its task ends, never for a single record: by the task's thread, by the one that
 * reads its rows, or by that of [[RunningTasks]]. It may throw; the caller logs and goes on.
 */
trait TaskFigures extends Serializable {

  /**
   * @param planning the id of the accumulator that brings it
   * @param task     none where tasks are not shown one by one
   */
  def add(owner: MarkOwner, planning: Long, task: Option[TaskPlace], summary: LatencySummary): Unit
}

/** What stands where nobody asks for the figures of this process. */
object TaskFigures {

  /** Shows nothing, and costs nothing. */
  object Nowhere extends TaskFigures {
    override def add(
        owner: MarkOwner,
        planning: Long,
        task: Option[TaskPlace],
        summary: LatencySummary
    ): Unit = ()
  }
}
