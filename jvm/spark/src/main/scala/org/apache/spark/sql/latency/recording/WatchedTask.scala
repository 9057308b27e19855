package org.apache.spark.sql.latency.recording

import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.TaskWatch
import io.sparklatency.time.WallClock
import org.apache.spark.SparkEnv

/**
 * A task that runs, the watch over its nodes, and what of it the driver is told while it runs. Thread-safe: the task adds nodes, the
 * thread of [[RunningTasks]] looks and reports.
 *
 * @param run         of the query; none of a batch query
 * @param isTold      whether the driver is told before the end: not where no execution has one at which it could be
 *                    put right
 * @param hasBatches  whether the task ends with its batch
 * @param everyMillis how long it runs before it reports, and how long before it reports again
 */
private[recording] final class WatchedTask(
    val attempt: TaskAttempt,
    run: Option[String],
    isTold: Boolean,
    hasBatches: Boolean,
    everyMillis: Long
) {
  import WatchedTask._

  val watch = new TaskWatch(WallClock)
  private var nodes = Vector.empty[Node]
  private var reportedAt = System.nanoTime()

  /**
   * @param planning the id of the accumulator that brings what the node records
   * @param isFirst  see [[TaskWatch.opened]]
   */
  def opened(planning: Long, partition: Int, rows: () => Long, isFirst: Boolean): TaskWatch#Node = {
    val node = watch.opened(rows, isFirst)
    if (isTold) synchronized {
      nodes = (nodes :+ Node(planning, partition, node)).takeRight(Reported)
    }
    node
  }

  /** What the task has done so far, if it is time to tell, and its nodes were seen. */
  def reportIfDue(now: Long): Option[TaskReport] = synchronized {
    val isDue = isTold && now - reportedAt > everyMillis * 1000000
    // In continuous mode a task reads its partition anew with each epoch. One that is over tells so once.
    val goingOn = if (isDue && !hasBatches) nodes.filter(_.node.endedMicros.isEmpty) else nodes
    val told = if (isDue) nodes.flatMap(_.told) else Vector.empty
    if (told.nonEmpty) {
      reportedAt = now
      nodes = goingOn
    }
    Option.when(told.nonEmpty)(TaskReport(run, attempt, hasBatches, told))
  }
}

private[recording] object WatchedTask {

  /** Of a task that reads many partitions, one after another, the last are told. */
  private val Reported = 200

  private final case class Node(planning: Long, partition: Int, node: TaskWatch#Node) {
    def told: Option[TaskReport.Node] =
      node.seenRows.map(rows => TaskReport.Node(planning, partition, slice(node), rows))
  }

  /** What a node did until now, or until its end. */
  def slice(node: TaskWatch#Node): TaskSlice = {
    val over = node.micros
    def ms(micros: Long) = (micros / 1e3).toFloat
    TaskSlice(
      SparkEnv.get.executorId,
      node.openedMicros,
      ms(node.endedMicros.getOrElse(over)),
      ms(over),
      (node.watchedNanos / 1e6).toFloat,
      (node.waitedNanos / 1e6).toFloat,
      ms(node.readMicros)
    )
  }
}
