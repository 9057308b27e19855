package io.sparklatency

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Measure
import org.scalatest.funsuite.AnyFunSuite

/** What operators did in windows of a second, where no batch ends, as running tasks report it. */
class WorkWindowsSuite extends AnyFunSuite with ReportedRuns {

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

  test("behind a union the operators of the side count that a task reads") {
    val union = planned("a" -> Set(), "b" -> Set(), "c" -> Set("a", "b"))
    val runs = new Runs(union, hasNoEnd = true)
    for (round <- 1 to 2) {
      val over = round * 1000f
      runs.report(1, 1, hasBatches = false)(at("a", over, 0, 5), at("c", over, round * 100f, 5))
      runs.report(1, 2, hasBatches = false)(at("b", over, 0, 9), at("c", over, round * 700f, 8))
      runs.report(1, 3, hasBatches = false)(at("c", over, 0, 0)) // no row has come on its side
      runs.clock.advance(1000)
    }
    assert(runs.window === Map("a" -> Some(0.0), "b" -> Some(0.0), "c" -> Some(700.0)))
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
