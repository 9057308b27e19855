package io.sparklatency

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Activity
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.figures.WorkSource
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** What the operators of a batch did that runs, and in the windows of one that does not end, as running tasks report it. */
class WorkSoFarSuite extends AnyFunSuite {
  private val plannings = Seq("a", "b", "c")

  private def owner(node: String) = MarkOwner(NodeKey("orders", node), Some("id"), Some("run"))

  private def planned(edges: (String, Set[String])*): Seq[PlannedNode] =
    edges.map { case (node, upstream) => PlannedNode(owner(node), upstream, plannings.indexOf(node).toLong) }

  private val chain = planned("a" -> Set(), "b" -> Set("a"), "c" -> Set("b"))

  private final class Ended extends WorkSource {
    var all = Map.empty[Long, Iterable[Reading]]
    override def readings(planning: Long): Iterable[Reading] = all.getOrElse(planning, Nil)
    override def offset(executor: String): Option[ClockOffset] = None
  }

  private final class Runs(
      plan: Seq[PlannedNode],
      hasNoEnd: Boolean = false,
      tasks: Option[Activity.Tasks] = None
  ) {
    val clock = new ManualClock(1000)
    val ended = new Ended
    val live = new LiveRuns(
      clock,
      FiguresSettings(),
      FiguresListener.Nowhere,
      activity =
        _ =>
          Some(Activity(
            12,
            "Processing new data",
            Some(5000),
            hasData = true,
            hasCommitted = true,
            hasNoEnd = hasNoEnd,
            tasks = tasks
          )),
      work = ended
    )(_.stopped)
    live.planned(plan)

    def query: QuerySnapshot = live.snapshot().head
    def soFar: Map[String, Option[Double]] = latencies(query.soFar)
    def window: Map[String, Option[Double]] = latencies(query.times)
    def answer: QueryAnswer = new QueryAnswer(query, Some(RunStatus.Running))

    def report(stage: Int, task: Long, hasBatches: Boolean)(nodes: TaskReport.Node*): Unit =
      live.report(TaskReport(Some("run"), TaskAttempt(stage, 0, task), hasBatches, nodes))
  }

  private def latencies(times: Option[BatchTimes]): Map[String, Option[Double]] =
    times.toSeq.flatMap(_.nodes).map(node => node.node -> node.latencyMs).toMap

  /** A node that has gone on for `over` milliseconds, and `waited` for rows of them, after so many rows. */
  private def at(node: String, over: Float, waited: Float, rows: Long, from: Long = 0): TaskReport.Node =
    TaskReport.Node(
      plannings.indexOf(node).toLong,
      0,
      TaskSlice("1", from * 1000, over, over, over, waited),
      rows
    )

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

  test("where no batch ends, a window of a second tells for how long operators were at work in it") {
    val runs = new Runs(chain, hasNoEnd = true)
    def tell(over: Float, b: Float, c: Float): Unit =
      runs.report(1, 1, hasBatches = false)(at("a", over, 0, 50), at("b", over, b, 50), at("c", over, c, 49))
    tell(1000, 300, 500)
    runs.clock.advance(1000)
    tell(2000, 400, 1000)
    assert(runs.window === Map("a" -> Some(0.0), "b" -> Some(300.0), "c" -> Some(200.0)))
    assert(runs.answer.work.map(_.text) ===
      Some(
        "The last second: the operators before b took longest: 300 ms of 500 ms (60 %) of work on the way of records."
      ))
    assert(runs.answer.work.map(_.path.nodes) === Some(Seq("a", "b", "c")))
    assert(runs.answer.notes.map(_.code).contains("operator-windows"))
    runs.clock.advance(1000)
    tell(3000, 500, 1500)
    assert(runs.window === Map("a" -> Some(0.0), "b" -> Some(100.0), "c" -> Some(400.0)))
    assert(runs.query.soFar === None, "nothing else is in progress")
    val of = runs.query.times.get
    assert((of.of, of.batch) === ((BatchTimes.Window, 2)))
  }

  test("a report that comes late makes no window longer than a second") {
    val runs = new Runs(chain, hasNoEnd = true)
    def tell(over: Float, b: Float): Unit =
      runs.report(1, 1, hasBatches = false)(at("a", over, 0, 50), at("b", over, b, 50))
    tell(1000, 0)
    runs.clock.advance(1000)
    tell(3000, 1800) // of two seconds
    runs.clock.advance(1000)
    tell(4000, 1800)
    assert(runs.window === Map("a" -> Some(0.0), "b" -> Some(900.0)))
    runs.clock.advance(1000)
    tell(5000, 1800)
    assert(runs.window("b") === Some(0.0))
  }

  test("where no batch ends, a task gets on as long as a row more comes to one of its nodes") {
    val runs = new Runs(chain, hasNoEnd = true)
    assert(runs.query.progressMs === None)
    // From 1,000 ms on, a report a second.
    val moved = for (rows <- Seq(50L, 60L, 60L, 60L, 61L)) yield {
      runs.report(1, 1, hasBatches = false)(at("a", 1000, 0, rows), at("b", 1000, 0, 5))
      runs.clock.advance(1000)
      runs.query.progressMs
    }
    assert(moved === Seq(1000, 2000, 2000, 2000, 5000).map(ms => Some(ms.toLong)))
  }

  test("operators that were at work equally long both count") {
    val runs = new Runs(chain, hasNoEnd = true)
    for (round <- 1 to 2) {
      val over = round * 1000f
      runs.report(1, 1, hasBatches = false)(
        at("a", over, 0, 50),
        at("b", over, round * 250f, 50),
        at("c", over, round * 500f, 50)
      )
      runs.clock.advance(1000)
    }
    assert(runs.window === Map("a" -> Some(0.0), "b" -> Some(250.0), "c" -> Some(250.0)))
    assert(runs.query.times.get.stages.map(_.endMs) === Seq(500.0))
  }

  test("the mean is of the last ten windows") {
    val runs = new Runs(chain, hasNoEnd = true)
    // In window n the operators before b are at work for n milliseconds.
    for (n <- 1 to 15) {
      val waited = (n * (n + 1) / 2).toFloat
      val nodes = Seq("a" -> 0f, "b" -> waited).map { case (node, ms) => at(node, n * 1000f, ms, 50) }
      // The node itself appears with its first record.
      runs.live.update(owner("b"))(_.add("b", Measure.E2ELatency, Aged.records(1)))
      runs.report(1, 1, hasBatches = false)(nodes: _*)
      runs.clock.advance(1000)
    }
    val b = runs.query.nodes.find(_.id == "b").get
    assert(b.operator.map(math.round) === (5 to 14))
    assert(math.abs(b.operatorLatencyAvg.get - 9.5) < 0.01)
  }

  test(
    "of a stage of several tasks that one stands which was at work longest, and stages follow one another"
  ) {
    val diamond = planned("a" -> Set(), "b" -> Set("a"), "c" -> Set("b"))
    val runs = new Runs(diamond, hasNoEnd = true)
    for (round <- 1 to 2) {
      runs.report(1, 1, hasBatches = false)(
        at("a", round * 1000f, 0, 5),
        at("b", round * 1000f, round * 100f, 5)
      )
      runs.report(1, 2, hasBatches = false)(
        at("a", round * 1000f, 0, 5),
        at("b", round * 1000f, round * 700f, 5)
      )
      runs.report(2, 3, hasBatches = false)(at("c", round * 1000f, 0, 5))
      runs.clock.advance(1000)
    }
    val times = runs.query.times.get
    assert(times.stages.map(stage => (stage.upstream, stage.startMs, stage.endMs, stage.tasks)) ===
      Seq((Nil, 0.0, 700.0, 2), (Seq(0), 700.0, 700.0, 1)))
    assert(
      runs.window === Map("a" -> Some(0.0), "b" -> Some(700.0), "c" -> None),
      "nothing is known of what is behind a shuffle"
    )
  }

  test("a partition that is read anew begins anew, and a clock that was set ends a window") {
    val runs = new Runs(chain, hasNoEnd = true)
    runs.report(1, 1, hasBatches = false)(at("a", 1000, 0, 5), at("b", 1000, 500, 5))
    runs.clock.advance(-5000)
    runs.report(1, 1, hasBatches = false)(at("a", 400, 0, 3, from = 9), at("b", 400, 300, 3, from = 9))
    assert(runs.window("b") === Some(500.0))
    runs.clock.advance(1000)
    runs.report(1, 1, hasBatches = false)(at("a", 1400, 0, 3, from = 9), at("b", 1400, 300, 3, from = 9))
    assert(runs.window("b") === Some(300.0))
  }
}
