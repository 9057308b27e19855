package io.sparklatency

import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskId
import io.sparklatency.figures.TaskPlace
import org.scalatest.funsuite.AnyFunSuite

/** What tasks publish while they run, beside what they give when they have ended. */
class PublishedTasksSuite extends AnyFunSuite with MarksOfRun {

  /** What a task publishes while it runs, and what it gives when it has ended: two records, one of them not published. */
  private def running(task: Long, node: String, place: TaskPlace): (PublishedPart, MarkReadings) = {
    val mark = this.mark(node, place.id.subtopology)(1)
    val reading = mark.readings.head
    val part =
      PublishedPart(owner(node), reading.id.copy(task = task), false, reading.summary, None, Some(place))
    val attempt = TaskAttempt(0, place.id.partition, task)
    val whole =
      reading.copy(attempt = attempt, summary = reading.summary + reading.summary, rest = reading.summary)
    (part, mark.copy(readings = Seq(whole)))
  }

  test("what a running task publishes is in its bean, and counts once when it has ended") {
    val tasks = new Tasks
    val runs = new LiveRuns(clock, FiguresSettings(granularity = Granularity.Subtask), tasks)(_.stopped)
    val (part, whole) = running(7, "only", TaskPlace(TaskId(2, 5), isLast = true))
    runs.publish(part)
    assert(tasks.records === Map("2_5 only" -> 1, "2_5 null" -> 1))
    runs.update(owner("any"))(query => query.add(Seq(whole), query.batch(0), _ => None))
    runs.executionEnded(Set(0))
    assert(tasks.records === Map("2_5 only" -> 2, "2_5 null" -> 2))
  }

  test("what a task has published and nobody has heard of comes into the window when it has ended") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val (_, whole) = running(7, "only", TaskPlace(TaskId(0, 0), isLast = true))
    runs.update(owner("any"))(query => query.add(Seq(whole), query.batch(0), _ => None))
    val shown = runs.snapshot().head.nodes.head.measures(Measure.E2ELatency)
    assert((shown.total.records, shown.window.count) === ((2, 2)))
  }

  test("what a task has published and its end overtook is in the window all the same") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val (part, whole) = running(7, "only", TaskPlace(TaskId(0, 0), isLast = true))
    def late = part.copy(summary = mark("only", 0)(90).readings.head.summary)
    val all = whole.copy(readings =
      whole.readings.map(reading =>
        reading.copy(summary = reading.summary + late.summary)
      )
    )
    runs.publish(part)
    runs.taskEnded(7, stage = 0, hasFailed = false)
    runs.publish(late)
    runs.update(owner("any"))(query => query.add(Seq(all), query.batch(0), _ => None))
    def shown = runs.snapshot().head.nodes.head.measures(Measure.E2ELatency)
    assert((shown.total.records, shown.window.count, shown.window.max) === ((3, 3, Some(90))))
    runs.executionEnded(Set(0))
    assert((shown.total.records, shown.window.count, shown.window.max) === ((3, 3, Some(90))))
  }

  test("what a task has published leaves its bean when it fails, and when another stands in its place") {
    val tasks = new Tasks
    val runs = new LiveRuns(clock, FiguresSettings(granularity = Granularity.Subtask), tasks)(_.stopped)
    val place = TaskPlace(TaskId(0, 0), isLast = false)
    val (failing, slow) = (running(7, "only", place)._1, running(8, "only", place)._1)
    Seq(failing, failing, slow).foreach(runs.publish)
    assert(tasks.records === Map("0_0 only" -> 2))
    runs.taskEnded(7, stage = 0, hasFailed = true)
    assert(tasks.records === Map("0_0 only" -> 1))
    runs.executionEnded(Set(0))
    assert(tasks.records.isEmpty)
  }

  test("at any other granularity a running task has no bean") {
    for (granularity <- Seq(Granularity.Single, Granularity.Operator)) {
      val tasks = new Tasks
      val runs = new LiveRuns(clock, FiguresSettings(granularity = granularity), tasks)(_.stopped)
      runs.publish(running(7, "only", TaskPlace(TaskId(0, 0), isLast = true))._1)
      assert(tasks.shown.isEmpty)
    }
  }
}
