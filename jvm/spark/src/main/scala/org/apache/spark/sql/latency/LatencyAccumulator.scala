package org.apache.spark.sql.latency

import scala.util.control.NonFatal

import io.sparklatency.LatencyRecorder
import io.sparklatency.LatencySummary
import io.sparklatency.NodeKey
import io.sparklatency.WallClock
import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.util.AccumulatorV2

/**
 * Brings what the tasks of one planned node recorded to the driver, each partition once.
 *
 * In a task it opens the recorder and, when the task ends, holds its summary. On the driver it keeps for each partition the
 * summary of the newest attempt, because a stage that is run again (a lost shuffle file, the sampling job of a range
 * partitioning, a second action on the same plan) reports partitions that were reported before.
 *
 * Not in heartbeats: those are serialized by another thread while the task writes.
 */
final class LatencyAccumulator(val owner: MarkOwner)
    extends AccumulatorV2[PartitionLatency, Map[Int, PartitionLatency]] with Logging {

  @transient private var recorder: LatencyRecorder = _
  @volatile private var newest = Map.empty[Int, PartitionLatency]
  @transient private var taken = Set.empty[Int]
  @transient private var touched = false

  override def excludeFromHeartbeat: Boolean = true

  /** The recorder of this task. Generated code and the interpreter call it once for each iterator, in the task's thread. */
  def open(): LatencyRecorder = {
    if (recorder == null) {
      recorder = new LatencyRecorder(WallClock)
      Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](seal(_)))
    }
    recorder
  }

  /** Whether nothing was taken yet. Spark ends the execution of a micro-batch twice, one within the other. */
  def isUntouched: Boolean = synchronized(!touched)

  /** What has come in since the last call. A partition that was taken once is not given again. */
  def take(): LatencySummary = synchronized {
    touched = true
    val fresh = newest -- taken
    taken ++= fresh.keySet
    newest = newest.map { case (partition, latency) =>
      partition -> latency.copy(summary = LatencySummary.empty)
    }
    LatencySummary.merge(fresh.values.map(_.summary))
  }

  override def add(latency: PartitionLatency): Unit = synchronized {
    if (newest.get(latency.partition).forall(_.isOlderThan(latency))) newest += latency.partition -> latency
  }

  override def merge(other: AccumulatorV2[PartitionLatency, Map[Int, PartitionLatency]]): Unit =
    other.value.values.foreach(add)

  override def value: Map[Int, PartitionLatency] = newest
  override def isZero: Boolean = newest.isEmpty
  override def reset(): Unit = newest = Map.empty

  override def copy(): LatencyAccumulator = {
    val other = new LatencyAccumulator(owner)
    other.newest = newest
    other
  }

  /** A failure of ours must not fail the task, which is what an exception in a completion listener does. */
  private def seal(task: TaskContext): Unit =
    try {
      val summary = recorder.summary()
      add(PartitionLatency(
        task.partitionId(),
        task.stageId(),
        task.stageAttemptNumber(),
        task.taskAttemptId(),
        summary
      ))
      ExecutorFigures.add(owner.key, summary)
    } catch {
      case NonFatal(e) =>
        logWarning(s"the latencies of node '${owner.key.node}' in task ${task.taskAttemptId()} are lost", e)
    }
}

/**
 * Whose figures these are.
 *
 * @param queryId the id of the streaming query, which survives restarts; none for a batch query
 * @param runId   the id of this run of it
 */
final case class MarkOwner(key: NodeKey, queryId: Option[String], runId: Option[String])

/** What one attempt at one partition recorded. */
final case class PartitionLatency(
    partition: Int,
    stage: Int,
    stageAttempt: Int,
    taskAttempt: Long,
    summary: LatencySummary
) {
  def isOlderThan(other: PartitionLatency): Boolean = PartitionLatency.attempt.lt(this, other)
}

object PartitionLatency {
  private val attempt: Ordering[PartitionLatency] = Ordering.by(p => (p.stage, p.stageAttempt, p.taskAttempt))
}
