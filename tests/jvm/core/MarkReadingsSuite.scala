package io.sparklatency

import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.recording.LatencySummary
import org.scalatest.funsuite.AnyFunSuite

/** Of a node that a batch has planned several times, which readings stand. */
class MarkReadingsSuite extends AnyFunSuite {

  /** A planning whose first partition was read as often as that, in the task of that number; with none it has read nothing. */
  private def planned(records: Int, task: Long = 0, stream: Long = 1, intake: Int = 0): MarkReadings = {
    val summary = Aged.records(Seq.fill(records)(5L): _*)
    val reading =
      Reading(0, TaskAttempt(task.toInt, 0, task), planning = task, 0, summary, LatencySummary.empty)
    val readings = Option.when(records > 0)(reading)
    MarkReadings("n", Measure.E2ELatency, 0, Set.empty, readings, streams = Set(stream), intake = intake)
  }

  private def standing(marks: MarkReadings*): Seq[(Long, Int)] = MarkReadings.standing(marks)
    .map(reading => reading.attempt.id -> reading.summary.records.toInt).toSeq.sorted

  test("of several plannings the one stands that read most, and of those that read as much the first") {
    assert(standing(planned(2, task = 1), planned(3, task = 2)) === Seq(2L -> 3))
    assert(standing(planned(3, task = 2), planned(3, task = 1)) === Seq(1L -> 3))
  }

  test("no partition stands beside one of another planning, which may have read the same rows in it") {
    val other = planned(2, task = 1)
    val second = other.copy(readings = other.readings.map(_.copy(partition = 1)))
    assert(standing(second, planned(3, task = 2)) === Seq(2L -> 3))
  }

  test("of two streams the first in the plan stands, also where it has read less or nothing") {
    assert(standing(planned(2, task = 1), planned(3, task = 2, stream = 2)) === Seq(1L -> 2))
    assert(standing(planned(0), planned(3, task = 2, stream = 2)) === Nil)
  }

  test("all scans of a source stand, though a plan that has not run has none of their records") {
    val (few, many) =
      (planned(10, task = 1, stream = 1, intake = 1), planned(200, task = 2, stream = 2, intake = 0))
    val notRun = Seq(planned(0, stream = 1, intake = 1), planned(0, stream = 2, intake = 0))
    assert(standing(notRun ++ Seq(few, many): _*) === Seq(1L -> 10, 2L -> 200))
  }
}
