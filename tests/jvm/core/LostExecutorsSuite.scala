package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.LostExecutor
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** An executor that is lost between two batches: no task fails of it, and the next batches take longer. */
class LostExecutorsSuite extends AnyFunSuite {
  import Answered._

  test("each run that goes on knows those since it began, also what was before its first node") {
    val clock = new ManualClock(1000)
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val owner = MarkOwner(NodeKey("orders", "sink"), Some("id"), Some("run"))
    def known = runs.snapshot().map(_.lostExecutors)
    def lose(executor: String, why: String): Unit =
      runs.executorRemoved(executor, Some(why), isOverdue = false)
    lose("2", "before it")
    runs.began("orders", "run", "id")
    lose("3", "exit code 137")
    val first = LostExecutor("3", 1000, "exit code 137")
    assert(runs.withTasks(query()).lostExecutors === Seq(first))
    runs.update(owner)(_ => ())
    assert(known === Seq(Seq(first)))
    clock.advance(500)
    lose("4", "worker lost")
    assert(known === Seq(Seq(first, LostExecutor("4", 1500, "worker lost"))))
    runs.stopped("run")
    lose("5", "after it")
    assert(known.map(_.size) === Seq(2))
  }

  test("one of which Spark tells twice is one, with the later reason, and one that it let go stays let go") {
    val clock = new ManualClock(1000)
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    runs.update(MarkOwner(NodeKey("orders", "sink"), Some("id"), Some("run")))(_ => ())
    def known = runs.snapshot().flatMap(_.lostExecutors)
    runs.executorRemoved("1", Some("disassociated"), isOverdue = false)
    clock.advance(500)
    runs.executorRemoved("1", Some("exit code 137"), isOverdue = false)
    assert(known === Seq(LostExecutor("1", 1000, "exit code 137")))
    runs.executorRemoved("2", None, isOverdue = false)
    runs.executorRemoved("2", Some("deleted by a user or the framework"), isOverdue = false)
    assert(known.size === 1)
    runs.executorRemoved("3", None, isOverdue = false)
    runs.executorRemoved("3", Some("heartbeat timed out"), isOverdue = true)
    assert(known.map(_.executor) === Seq("1", "3"))
  }

  test("it is noted for ten minutes, with a warning within the window") {
    val clear =
      query(Aged.node("source")(100)).copy(lostExecutors = Seq(LostExecutor("3", 5000, "worker lost.")))
    def told(atMs: Option[Long]) = notes(clear.copy(atMs = atMs), "executor-lost")
    assert(told(Some(25000)) === Seq(Note(
      "executor-lost",
      Note.Warn,
      "Executor 3 was lost 20 s ago: worker lost. " +
        "Until another comes, fewer tasks run at a time, and state that it kept is loaded anew.",
      numbers = Seq("executors" -> Whole(1), "ms" -> Whole(20000))
    )))
    val windowMs = clear.covers.ms
    assert(told(Some(5000 + windowMs)).map(_.level) === Seq(Note.Warn))
    assert(told(Some(5001 + windowMs)).map(_.level) === Seq(Note.Info))
    assert(Seq(605000L, 605001L).map(at => told(Some(at)).size) === Seq(1, 0))
    assert(told(Some(4000)).map(_.numbers.last) === Seq("ms" -> Whole(0)), "the clock has been set back")
    assert(told(None) === Nil, "the run has ended")
  }

  test("of several the last is told, and how many it were") {
    val lost = for (place <- 1 to 3) yield LostExecutor(s"$place", place * 400000L, s"of spot $place")
    val clear = query(Aged.node("source")(100)).copy(lostExecutors = lost, atMs = Some(1205000))
    assert(notes(clear, "executor-lost") === Seq(Note(
      "executor-lost",
      Note.Warn,
      "2 executors were lost within the last ten minutes, the last one, 3, 5 s ago: of spot 3. " +
        "Until others come, fewer tasks run at a time, and state that they kept is loaded anew.",
      numbers = Seq("executors" -> Whole(2), "ms" -> Whole(5000))
    )))
  }
}
