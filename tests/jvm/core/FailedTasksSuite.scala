package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.figures.FailedTask
import io.sparklatency.figures.FailedTasks
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** Attempts of tasks that failed: Spark runs such a task again, and its batch takes longer. */
class FailedTasksSuite extends AnyFunSuite {
  import Aged._
  import Answered._

  private val clock = new ManualClock(1000)
  private val owner = MarkOwner(NodeKey("orders", "sink"), Some("id"), Some("run"))
  private def live = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)

  test(
    "each batch has those that failed since the one before, a run all of them, and a reader of its events the same"
  ) {
    val runs = live
    def fail(stage: Int, why: Option[String]): Unit =
      runs.taskEnded(task = 1, stage, hasFailed = true, why)
    def commit(batch: Long) = runs.update(owner) { run =>
      run.batch(batch)
      run.commit(batch)(identity).get
    }
    def known = runs.snapshot().head.failedTasks
    runs.update(owner)(_ => ())
    assert(known === Some(FailedTasks.Empty))
    runs.jobStarted("id", Seq(3))
    runs.jobStarted("another", Seq(4))
    fail(3, Some("lost"))
    fail(3, None)
    fail(4, Some("of another query"))
    runs.taskEnded(task = 2, 3, hasFailed = false)
    assert(known === Some(FailedTasks(1, Some(FailedTask(1000, "lost")))))
    val first = commit(0)
    clock.advance(500)
    fail(3, Some("a"))
    fail(3, Some("b"))
    val batches = Seq(first, commit(1), commit(2))
    assert(batches.map(_.tasksFailed) === Seq(1, 2, 0))
    assert(known === Some(FailedTasks(3, Some(FailedTask(1500, "b")))))
    val reader = live.update(owner) { run =>
      batches.foreach(run.replay)
      run.snapshot(2000)
    }
    assert(reader.failedTasks === Some(FailedTasks(3)))
    val ofBatchQueries = live.update(MarkOwner(NodeKey("__batch__", "sink"), None, None))(_.snapshot(2000))
    assert(ofBatchQueries.failedTasks === None, "nobody counts there")
  }

  test("a run that has ended has none of those that fail in the next run of its query") {
    val runs = live
    runs.update(owner)(_ => ())
    runs.stopped("run")
    runs.began("orders", "next", "id")
    runs.jobStarted("id", Seq(3))
    runs.taskEnded(task = 1, 3, hasFailed = true, Some("late"))
    assert(
      runs.snapshot().map(run => run.runId -> run.failedTasks) === Seq(Some("run") -> Some(FailedTasks.Empty))
    )
  }

  test("a run has those that failed before its first node, too") {
    val runs = live
    runs.began("orders", "run", "id")
    runs.jobStarted("id", Seq(3))
    runs.taskEnded(task = 1, 3, hasFailed = true, Some("early"))
    val told = runs.update(owner)(_.snapshot(2000)).failedTasks
    assert(told === Some(FailedTasks(1, Some(FailedTask(clock.millis(), "early")))))
  }

  test("tasks that failed are noted as long as the run goes on, with a warning within the window") {
    val clear = query(node("source")(100, 300), node("sink", "source")(500, 700).committed(600, 800))
    val again = "Spark runs such a task again, and its records wait."
    def told(failed: FailedTasks, atMs: Option[Long]) =
      notes(clear.copy(failedTasks = Some(failed), atMs = atMs), "tasks-failed")
    val two = FailedTasks.Empty.add(FailedTask(1000, "FetchFailed")).add(FailedTask(5000, "Lost executor 1."))
    assert(told(two, Some(25000)) === Seq(Note(
      "tasks-failed",
      Note.Warn,
      s"2 attempts of tasks have failed, the last 20 s ago: Lost executor 1. $again",
      numbers = Seq("tasks" -> Whole(2), "ms" -> Whole(20000))
    )))
    val windowMs = clear.covers.ms
    assert(told(two, Some(5000 + windowMs)).map(_.level) === Seq(Note.Warn))
    assert(told(two, Some(5001 + windowMs)).map(_.level) === Seq(Note.Info))
    assert(told(FailedTasks(1), None) === Seq(Note(
      "tasks-failed",
      Note.Info,
      "1 attempt of a task has failed.",
      numbers = Seq("tasks" -> Whole(1))
    )))
    assert(told(FailedTasks.Empty, Some(25000)) === Nil)
  }
}
