package org.apache.spark.sql.latency

import scala.collection.mutable
import scala.util.control.NonFatal

import io.sparklatency.Ages
import io.sparklatency.Clock
import io.sparklatency.LatencyRecorder
import io.sparklatency.LatencySummary
import io.sparklatency.ManualClock
import io.sparklatency.Measure
import io.sparklatency.NodeKey
import io.sparklatency.ReadingId
import io.sparklatency.WallClock
import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.util.AccumulatorV2

/**
 * Brings what the tasks of one planned node recorded to the driver, each partition once.
 *
 * The partition is that of the node's own RDD, which need not be the task's: a task that coalesces, or one side of a cartesian
 * product, reads several of them, or one that other tasks read too. In a task each reading of a partition has a recorder of
 * its own, whose summary is added when the task ends. On the driver one [[Reading]] of each partition stands.
 *
 * @param intake    which of the ways into the node's operator the mark stands on, where there are several as into a join: the
 *                  partitions of each count
 * @param publishMs how long a task runs before it publishes, and again
 * @param watermark in milliseconds: what ages are counted from, where it is not the clock. It stands still within a batch
 *
 * Not in heartbeats: those are serialized by another thread while the task writes.
 */
final class LatencyAccumulator(
    val owner: MarkOwner,
    intake: Int = 0,
    publishMs: Long = LatencyRecorder.PublishMs,
    watermark: Option[Long] = None
) extends AccumulatorV2[Reading, Map[Int, Reading]] with Logging {

  @transient private var recorders: mutable.ArrayBuffer[(Int, LatencyRecorder)] = _
  @volatile private var readings = Map.empty[Int, Reading]
  @transient private var taken = Set.empty[Int]
  private var reference: Option[Long] = None

  override def excludeFromHeartbeat: Boolean = true

  /** Has the ages taken from which those at the commit are made. Called before there are tasks. */
  def takeAges(): Unit = reference = reference.orElse(Some(clock.millis()))

  /** A recorder for another reading of `partition`. Generated code and the interpreter ask for one before the first row. */
  def open(partition: Int): LatencyRecorder = {
    val task = Option(TaskContext.get())
    if (recorders == null) {
      recorders = mutable.ArrayBuffer.empty
      task.foreach(_.addTaskCompletionListener[Unit](seal(_)))
    }
    val number = recorders.size
    val recorder = new LatencyRecorder(
      clock,
      (part, oldest) =>
        task.foreach(context =>
          RunningTasks.publish(owner, readingId(context, number), context, part, oldest)
        ),
      publishMs * 1000 * 1000,
      reference
    )
    if (task.nonEmpty) RunningTasks.opened(recorder)
    recorders += partition -> recorder
    recorder
  }

  private def readingId(task: TaskContext, number: Int) = ReadingId(id, task.taskAttemptId(), number)

  private def clock: Clock = watermark.fold[Clock](WallClock)(new ManualClock(_))

  override def add(reading: Reading): Unit = synchronized {
    if (readings.get(reading.partition).forall(reading.supersedes)) readings += reading.partition -> reading
  }

  override def merge(other: AccumulatorV2[Reading, Map[Int, Reading]]): Unit = other.value.values.foreach(add)

  override def value: Map[Int, Reading] = readings

  /** Spark registers an accumulator with its task before it has read it to the end, and asks from a heartbeat. */
  override def isZero: Boolean = readings == null || readings.isEmpty
  override def reset(): Unit = readings = Map.empty

  override def copy(): LatencyAccumulator = {
    val other = new LatencyAccumulator(owner, intake, publishMs, watermark)
    other.reference = reference
    other.readings = readings
    other
  }

  /** Whether all that there was has been given out, as of a cached plan that another execution reads again. */
  def isSpent: Boolean = synchronized(readings.isEmpty && taken.nonEmpty)

  /** The timestamp of the oldest record in what was not given out, where ages are taken. */
  def oldest: Option[Long] =
    readings.values.flatMap(_.ages).flatMap(ages => ages.summary.max.map(ages.atMs - _)).minOption

  /** The readings of partitions that were not given out before. What was given out is kept no longer than needed to know so. */
  private def take(): Iterable[((Int, Int), Reading)] = synchronized {
    val fresh = readings -- taken
    taken ++= fresh.keySet
    readings = Map.empty
    fresh.map { case (partition, reading) => (intake, partition) -> reading }
  }

  /** A failure of ours must not fail the task, which is what an exception in a completion listener does. */
  private def seal(task: TaskContext): Unit =
    recorders.zipWithIndex.foreach { case ((partition, recorder), number) =>
      RunningTasks.closed(recorder)
      try {
        val (summary, rest) = recorder.seal()
        add(Reading(partition, TaskAttempt(task), id, number, summary, rest, recorder.agesOfAll))
        ExecutorFigures.add(owner, rest)
      } catch {
        case NonFatal(e) =>
          logWarning(s"latencies of node '${owner.key.node}' in task ${task.taskAttemptId()} are lost", e)
      }
    }
}

object LatencyAccumulator {

  /**
   * What has come in since the last call for a node that was planned several times within one execution, as Spark does it in a
   * self-join, or when it plans the rest of a running query anew.
   */
  def take(plannings: Seq[LatencyAccumulator]): Iterable[Reading] =
    plannings.flatMap(_.take()).groupMapReduce { case (place, _) => place } { case (_, reading) => reading } {
      (one, other) => if (other.supersedes(one)) other else one
    }.values
}

/**
 * Whose figures these are.
 *
 * @param queryId the id of the streaming query, which survives restarts; none for a batch query
 * @param runId   the id of this run of it
 */
final case class MarkOwner(
    key: NodeKey,
    queryId: Option[String],
    runId: Option[String],
    measure: Measure = Measure.E2ELatency
)

/**
 * What one attempt at a task recorded while it read a partition of the node once. A driver keeps many of these: what can be told
 * from the rest is not in it.
 *
 * @param planning the id of the accumulator
 * @param number   which reading of that task's it is
 * @param rest     what of it the task had not published while it ran
 * @param ages     of the same records, where the node is one at the end of a query
 */
final case class Reading(
    partition: Int,
    attempt: TaskAttempt,
    planning: Long,
    number: Int,
    summary: LatencySummary,
    rest: LatencySummary,
    ages: Option[Ages] = None
) {
  def id: ReadingId = ReadingId(planning, attempt.id, number)

  /**
   * Of two attempts at one task the newer stands. Otherwise, as between the actions of one foreachBatch, or a sort and the job
   * that samples its input, the one that read more (the other may have stopped at a limit), or else the newer.
   */
  def supersedes(other: Reading): Boolean =
    if (attempt.isRetryOf(other.attempt) || other.attempt.isRetryOf(attempt)) attempt.id > other.attempt.id
    else if (summary.records == other.summary.records) attempt.id >= other.attempt.id
    else summary.records > other.summary.records
}

/** @param id grows throughout an application */
final case class TaskAttempt(stage: Int, taskPartition: Int, id: Long) {
  def isRetryOf(other: TaskAttempt): Boolean =
    stage == other.stage && taskPartition == other.taskPartition && id > other.id
}

object TaskAttempt {
  def apply(task: TaskContext): TaskAttempt =
    TaskAttempt(task.stageId(), task.partitionId(), task.taskAttemptId())
}
