package org.apache.spark.sql.latency.tracking

import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset
import org.scalatest.funsuite.AnyFunSuite

/** What the launch and the end of tasks say of an executor's clock. In the room's own package for its visibility. */
class TaskClocksSuite extends AnyFunSuite {

  /** A task that ran for so long by its executor's clock, in milliseconds. */
  private def ran(task: Long, executor: String, from: Long, ms: Long): MarkReadings = {
    val slice = TaskSlice(executor, from * 1000, ms.toFloat, ms.toFloat, 0, 0)
    val reading = Reading(
      0,
      TaskAttempt(0, 0, task),
      0,
      0,
      LatencySummary.empty,
      LatencySummary.empty,
      slice = slice
    )
    MarkReadings("a", Measure.E2ELatency, 0, Set.empty, Seq(reading))
  }

  test("tasks bound an executor's clock together, and correct it where it is certainly off") {
    val clocks = new TaskClocks(_ => None)
    clocks.ended(1, "far", launchedMs = 1000, finishedMs = 1102)
    clocks.ended(2, "far", launchedMs = 2000, finishedMs = 2130)
    clocks.ended(3, "near", launchedMs = 1000, finishedMs = 1010)
    val of = clocks.of(Seq(ran(1, "far", 4504, 96), ran(2, "far", 5501, 99), ran(3, "near", 1004, 4)))
    // Between 3,497 and 3,501 ms ahead, and a microsecond.
    assert(of("far") === Some(ClockOffset(3499000, 2002)))
    // Between -3 and 4 ms: it may be right.
    assert(of("near") === Some(ClockOffset(0, 4002)))
    assert(of("unheard of") === None)
  }

  test("a clock that the plugin compares is known by that") {
    val clocks = new TaskClocks(executor => Option.when(executor == "1")(ClockOffset(0, 50)))
    Seq("1", "2").zipWithIndex.foreach { case (executor, i) => clocks.ended(i.toLong, executor, 1000, 1010) }
    val of = clocks.of(Seq(ran(0, "1", 9000, 5), ran(1, "2", 1002, 5)))
    assert((of("1"), of("2").map(_.micros)) === ((Some(ClockOffset(0, 50)), Some(0L))))
  }

  test("nothing is known where a clock was set while a task ran, and of tasks that were not heard of") {
    val clocks = new TaskClocks(_ => None)
    clocks.ended(1, "1", 1000, 1010)
    assert(clocks.of(Seq(ran(1, "1", 1000, 5000)))("1") === None)
    assert(clocks.of(Seq(ran(2, "1", 1000, 5)))("1") === None)
  }
}
