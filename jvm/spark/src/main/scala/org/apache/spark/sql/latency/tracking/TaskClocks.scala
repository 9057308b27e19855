package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.figures.MarkReadings
import io.sparklatency.time.ClockInterval
import io.sparklatency.time.ClockOffset

/**
 * How far the clocks of executors may be off. Where the plugin compares them, that tells it. Elsewhere the tasks of a batch bound it:
 * a task begins after its launch and is over before its end, both by the driver's clock. That is as wide as a task waits for its
 * executor and its result for the driver, some milliseconds.
 *
 * Keeps two times for each of the last 20,000 tasks of executors that are not compared. Costs a look at each partition of a batch.
 * Not thread-safe: only the listener's thread uses it.
 *
 * @param compared how far the times of an executor may be off that the plugin compares
 */
private[latency] final class TaskClocks(compared: String => Option[ClockOffset]) {
  private val tasks = mutable.LinkedHashMap.empty[Long, TaskClocks.Task]

  /** A task has ended; times in milliseconds. */
  def ended(task: Long, executor: String, launchedMs: Long, finishedMs: Long): Unit =
    if (compared(executor).isEmpty) {
      tasks(task) = TaskClocks.Task(launchedMs, finishedMs)
      if (tasks.size > TaskClocks.Kept) tasks -= tasks.head._1
    }

  /** How far the times of each executor are off in what its tasks brought for a batch; none where nothing bounds it. */
  def of(marks: Seq[MarkReadings]): String => Option[ClockOffset] = {
    val intervals = mutable.Map.empty[String, mutable.ArrayBuffer[Option[ClockInterval]]]
    if (tasks.nonEmpty) for {
      mark <- marks
      reading <- mark.readings
      slice = reading.slice if slice.isWatched
      task <- tasks.get(reading.attempt.id)
    } {
      val over = slice.openedMicros + math.round(slice.overMs * 1000.0)
      intervals.getOrElseUpdate(slice.executor, mutable.ArrayBuffer.empty) +=
        ClockInterval.ofTask(task.launchedMs, slice.openedMicros, over, task.finishedMs)
    }
    val bounded = intervals.iterator.map { case (executor, of) => executor -> offset(of.toSeq) }.toMap
    executor => compared(executor).orElse(bounded.get(executor).flatten)
  }

  /** None where clocks were set meanwhile. */
  private def offset(intervals: Seq[Option[ClockInterval]]): Option[ClockOffset] =
    ClockInterval.ofAll(intervals.flatten).filter(_ => intervals.forall(_.nonEmpty)).map { interval =>
      val likely = ClockOffset(interval.midpoint, interval.high - interval.midpoint + 1)
      ClockOffset(likely.correction, likely.corrected.bound)
    }
}

private object TaskClocks {
  val Kept = 20000
  final case class Task(launchedMs: Long, finishedMs: Long)
}
