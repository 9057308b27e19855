package io.sparklatency

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodePartitions
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset

/** Makes the times of a batch from what its tasks did. Times are milliseconds. */
private[sparklatency] trait TasksOfBatch {
  import TasksOfBatch._

  private def reading(at: At): Reading = {
    val ms = (at.to - at.from).toFloat
    val over = if (at.over < 0) ms else (at.over - at.from).toFloat
    val slice = TaskSlice(
      at.executor,
      at.from * 1000,
      ms,
      over,
      if (at.watched < 0) ms else at.watched.toFloat,
      at.waited.toFloat,
      at.read.toFloat
    )
    Reading(
      at.task,
      TaskAttempt(at.stage, at.task, at.task.toLong),
      1,
      0,
      Aged.records(Seq.fill(at.records)(5L): _*),
      LatencySummary.empty,
      slice = slice
    )
  }

  protected def marks(upstream: Map[String, Set[String]])(all: At*): Seq[MarkReadings] =
    all.map(_.node).distinct.map { node =>
      val readings = all.filter(_.node == node).map(reading)
      MarkReadings(node, Measure.E2ELatency, 0, upstream.getOrElse(node, Set.empty), readings)
    }

  protected def times(upstream: (String, String)*)(all: At*): BatchTimes =
    BatchTimes.of(7, marks(edges(upstream))(all: _*), _ => Some(ClockOffset.Same)).get

  protected def edges(pairs: Seq[(String, String)]): Map[String, Set[String]] =
    pairs.groupMap { case (_, to) => to } { case (from, _) => from }.map { case (to, from) =>
      to -> from.toSet
    }

  protected def partitions(times: BatchTimes, node: String): NodePartitions =
    times.nodes.find(_.node == node).get.partitions
}

private[sparklatency] object TasksOfBatch {

  /**
   * A node in one task: from when to when, until when the task, and how often of so many looks fewer rows had come than elsewhere. So much
   * later than it was opened the task asked for its first row.
   */
  final case class At(
      node: String,
      task: Int,
      from: Long,
      to: Long,
      over: Long = -1,
      waited: Double = 0,
      watched: Double = -1,
      records: Int = 10,
      stage: Int = 0,
      executor: String = "1",
      read: Long = 0
  )
}
