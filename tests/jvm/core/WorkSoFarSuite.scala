package io.sparklatency

import io.sparklatency.figures.Activity
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencySummary
import org.scalatest.funsuite.AnyFunSuite

/** What the operators of a batch did that runs, as running tasks report it. */
class WorkSoFarSuite extends AnyFunSuite with ReportedRuns {

  test("of a task that runs, a node's part is the share of looks that found rows on their way to it") {
    val runs = new Runs(chain)
    assert(runs.query.soFar === None)
    runs.report(1, 1, hasBatches = true)(
      at("a", 9000, 0, 50),
      at("b", 9000, 6000, 49),
      at("c", 9000, 8000, 49)
    )
    assert(runs.soFar === Map("a" -> Some(0.0), "b" -> Some(6000.0), "c" -> Some(2000.0)))
    assert(runs.query.soFar.map(times => (times.of, times.batch)) === Some((BatchTimes.SoFar, 12)))
    assert(runs.answer.workSoFar.map(_.text) ===
      Some("Batch 12 so far: the operators before b took longest: 6 s of 9 s (67 %) since the first read."))
    assert(runs.answer.work === None, "no batch has ended")
  }

  test("Apex B1: an operator that is as far as the one before it has taken nothing so far") {
    val runs = new Runs(chain)
    runs.report(1, 1, hasBatches = true)(at("a", 9000, 0, 50), at("b", 9000, 0, 50))
    assert(runs.soFar === Map("a" -> Some(0.0), "b" -> Some(0.0)))
  }

  test("when no task runs any more, what comes after the nodes goes on") {
    def said(tasks: Option[Activity.Tasks]) = {
      val runs = new Runs(chain, tasks = tasks)
      runs.report(1, 1, hasBatches = true)(at("a", 9000, 0, 50), at("b", 9000, 6000, 49))
      runs.clock.set(36000)
      runs.answer.workSoFar.map(_.text)
    }
    assert(said(None) === Some(
      "Batch 12 so far: what comes after b took longest: 27 s of 36 s (75 %) since the first read. No task of its jobs is known to run."
    ))
    assert(said(Some(Activity.Tasks(1, 1, 2))) ===
      Some("Batch 12 so far: the operators before b took longest: 6 s of 9 s (67 %) since the first read."))
  }

  test(
    "a run with nodes is not without figures while its first batch, which is committed, is yet to be told"
  ) {
    val query = new Runs(chain).query
    assert((query.batches, query.activity.map(_.hasCommitted), query.isUnmarked) === ((0, Some(true), false)))
  }

  test("a task gets on with each record that comes to it, and when it ends well") {
    val runs = new Runs(chain)
    def after(ms: Long)(told: => Unit): Option[Long] = {
      runs.clock.advance(ms)
      told
      runs.clock.advance(100)
      runs.query.sinceProgressMs
    }
    def report(rows: Long) =
      runs.report(1, 1, hasBatches = true)(at("a", 9000, 0, 50), at("b", 9000, 6000, rows))
    assert(after(0)(()) === Some(5000), "nothing is known but since when the batch runs")
    assert(after(1000)(report(49)) === Some(100))
    assert(after(1000)(report(49)) === Some(1200))
    assert(after(1000)(report(50)) === Some(100))
    assert(
      after(1000)(runs.live.taskEnded(7, stage = 3, hasFailed = false)) === Some(1200),
      "of nobody knows which query"
    )
    runs.live.jobStarted("another", Seq(3))
    runs.live.jobStarted("id", Seq(4))
    assert(after(1000)(runs.live.taskEnded(7, stage = 3, hasFailed = false)) === Some(2300))
    assert(after(1000)(runs.live.taskEnded(8, stage = 4, hasFailed = false)) === Some(100))
    assert(
      after(1000)(runs.live.taskEnded(9, stage = 4, hasFailed = true)) === Some(1200),
      "not when it has failed"
    )
  }

  test("a later report takes the place of an earlier one, and an ended task has told its accumulator") {
    val runs = new Runs(chain)
    runs.report(1, 1, hasBatches = true)(at("a", 9000, 0, 50), at("b", 9000, 6000, 50))
    runs.report(1, 1, hasBatches = true)(at("a", 20000, 0, 90), at("b", 20000, 10000, 90))
    assert(runs.soFar === Map("a" -> Some(0.0), "b" -> Some(10000.0)))
    runs.live.taskEnded(1, stage = 0, hasFailed = false)
    assert(runs.query.soFar === None)
    def reading(node: String, waited: Float): (Long, Iterable[Reading]) = {
      val slice = TaskSlice("1", 0, 21000, 21000, 21000, waited)
      val records = Aged.records(5, 5)
      val made = Reading(0, TaskAttempt(1, 0, 1), 0, 0, records, LatencySummary.empty, slice = slice)
      plannings.indexOf(node).toLong -> Seq(made)
    }
    runs.ended.all = Map(reading("a", 0), reading("b", 10500))
    assert(runs.soFar === Map("a" -> Some(0.0), "b" -> Some(10500.0)))
    runs.report(1, 1, hasBatches = true)(at("a", 30000, 0, 90), at("b", 30000, 10000, 90))
    assert(runs.soFar("b") === Some(10500.0), "what comes after a task's end is too late")
    runs.live.executionEnded(Set(0, 1, 2))
    assert(runs.query.soFar === None)
  }

  test(
    "of attempts at one task the one counts that is furthest, and where it is run again the one that runs"
  ) {
    val runs = new Runs(chain)
    def partitions = runs.query.soFar.get.stages.map(_.node("b").get.partitions)
    def told = partitions.map(of => (of.count, of.slowest.map(one => (one.tookMs, one.records))))
    runs.report(1, 1, hasBatches = true)(at("a", 9000, 0, 50), at("b", 9000, 6000, 49))
    runs.report(1, 2, hasBatches = true)(at("a", 2000, 0, 20), at("b", 2000, 1000, 19))
    assert(told === Seq((1, Seq((9000.0, 49)))))
    assert(runs.query.soFar.get.stages.map(_.tasks) === Seq(1))
    runs.live.taskEnded(1, stage = 0, hasFailed = false)
    val slice = TaskSlice("1", 0, 9500, 9500, 9500, 6000)
    val ended =
      Reading(0, TaskAttempt(1, 0, 1), 0, 0, Aged.records(5, 5), LatencySummary.empty, slice = slice)
    runs.ended.all = Seq(0L, 1L).map(_ -> Seq(ended)).toMap
    assert(told === Seq((1, Seq((2000.0, 19)))))
    runs.live.taskEnded(2, stage = 0, hasFailed = true)
    assert(told === Seq((1, Seq((9500.0, 2)))))
  }

  test("rows that an operator gathers are under way; whether it lets all pass, the last batch tells") {
    val runs = new Runs(chain)
    def told(): Unit =
      runs.report(1, 1, hasBatches = true)(at("a", 9000, 0, 500), at("b", 9000, 6000, 100))
    told()
    assert(runs.soFar === Map("a" -> Some(0.0), "b" -> None))
    runs.live.update(owner("a")) { query =>
      val batch = query.batch(11)
      Seq("a" -> Seq.empty, "b" -> Seq("a")).foreach { case (node, upstream) =>
        batch.add(node, upstream)
        batch.add(node, Measure.E2ELatency, Aged.records(5, 6, 7))
      }
      query.commit(11)(identity)
    }
    assert(runs.soFar === Map("a" -> Some(0.0), "b" -> Some(6000.0)))
  }

  test(
    "a batch query in progress shows, the newest of which anything is known, and none that is only planned"
  ) {
    val runs = new Runs(Nil)
    def planned(node: String, upstream: String*) = {
      val owner = MarkOwner(NodeKey("__batch__", node), None, None)
      PlannedNode(owner, upstream.toSet, plannings.indexOf(node).toLong)
    }
    def report(stage: Int, waited: Float) = runs.live.report(TaskReport(
      None,
      TaskAttempt(stage, 0, stage.toLong),
      hasBatches = true,
      Seq(at("a", 9000, 0, 50), at("b", 9000, waited, 49))
    ))
    def shown =
      runs.live.snapshot().map(query => (query.name, query.soFar.map(_.batch), latencies(query.soFar)))
    runs.live.planned(Seq(planned("a"), planned("b", "a")))
    assert(shown === Nil)
    runs.live.batchQueryStarted(7, Seq(1))
    runs.live.batchQueryStarted(7, Seq(2))
    runs.live.batchQueryStarted(8, Seq(5))
    report(stage = 3, 1000)
    assert(shown === Nil, "of an execution that has ended")
    report(stage = 2, 6000)
    assert(shown === Seq(("__batch__", Some(7L), Map("a" -> Some(0.0), "b" -> Some(6000.0)))))
    report(stage = 5, 2000)
    assert(shown === Seq(("__batch__", Some(8L), Map("a" -> Some(0.0), "b" -> Some(2000.0)))))
    runs.live.batchQueryEnded(8)
    assert(shown.flatMap(_._2) === Seq(7))
    runs.live.taskEnded(2, stage = 0, hasFailed = false)
    assert(shown === Seq(("__batch__", None, Map())))
  }

  test("of a batch query the marks of the last thousand plannings are kept") {
    val runs = new Runs(Nil)
    def planned(planning: Long) =
      runs.live.planned(Seq(PlannedNode(MarkOwner(NodeKey("__batch__", "a"), None, None), Set(), planning)))
    runs.live.batchQueryStarted(7, Seq(1))
    (0L to 999L).foreach(planned)
    runs.live.report(TaskReport(None, TaskAttempt(1, 0, 1), hasBatches = true, Seq(at("a", 9000, 0, 50))))
    assert(runs.query.soFar.nonEmpty)
    planned(1000)
    assert(runs.query.soFar === None)
  }
}
