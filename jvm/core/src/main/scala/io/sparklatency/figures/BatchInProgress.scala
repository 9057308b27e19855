package io.sparklatency.figures

import scala.collection.mutable

/**
 * The plan of the batch that runs, and what its running tasks have reported: enough to say what its operators did so far. Keeps one
 * report for each task that runs, and nothing of those that ended: their accumulators have that. Not thread-safe.
 */
private final class BatchInProgress {
  private val marks = mutable.LinkedHashMap.empty[Long, PlannedNode] // upstream first, as plans are told
  private var reports = Map.empty[Long, TaskReport]

  /** A plan is about to run, or more is known of it. */
  def planned(nodes: Seq[PlannedNode]): Unit =
    nodes.foreach(node => marks(node.planning) = node)

  /** Forgets all but the newest. */
  def keep(most: Int): Unit = marks --= marks.keysIterator.take(marks.size - most).toList

  def mark(planning: Long): Option[PlannedNode] = marks.get(planning)

  /** Whose batch it is; none where nothing is planned. */
  def owner: Option[MarkOwner] = marks.headOption.map { case (_, mark) => mark.owner }

  /** Says whether the task got on: whether records have come to it since it last told. */
  def report(report: TaskReport): Boolean = {
    val before = reports.get(report.attempt.id)
    reports += report.attempt.id -> report
    !before.exists(_.rows == report.rows)
  }

  def taskEnded(task: Long): Unit = reports -= task

  /** Nothing more comes from these. */
  def ended(plannings: Set[Long]): Unit = {
    marks --= plannings
    reports = reports.filter { case (_, report) =>
      report.nodes.exists(node => marks.contains(node.planning))
    }
  }

  /**
   * Asks what its operators did so far, of what is known now. To be called once, by any thread: it looks at each
   * partition.
   *
   * @param ofStage whether a stage is the batch's
   */
  def asked(
      source: WorkSource,
      same: (String, String) => Boolean,
      ofStage: Int => Boolean = _ => true
  ): () => Option[BatchTimes] = {
    val (planned, running) =
      (marks.toList, reports.values.filter(report => ofStage(report.attempt.stage)).toList)
    () => {
      val reported = running.flatMap(report => report.nodes.map(report.attempt -> _)).groupBy(_._2.planning)
      val all = planned.map { case (planning, mark) =>
        val slices = reported.getOrElse(planning, Nil).map { case (attempt, node) =>
          RunningSlice(attempt, node.partition, node.slice, node.rows)
        }
        MarkReadings(
          mark.id,
          Measure.E2ELatency,
          0,
          mark.upstream,
          source.readings(planning).filter(reading => ofStage(reading.work.attempt.stage)),
          running = slices,
          aside = mark.aside
        )
      }
      BatchTimes.soFar(all, source.offset, same)
    }
  }
}

private object BatchInProgress {

  /** Marks are planned that never run, to explain them say. */
  val Kept = 1000
}
