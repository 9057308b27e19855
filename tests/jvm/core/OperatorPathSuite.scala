package io.sparklatency

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Work
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import io.sparklatency.path.OperatorPath
import io.sparklatency.path.OperatorPath.Node
import io.sparklatency.path.OperatorPath.Rest
import io.sparklatency.path.OperatorPath.Step
import io.sparklatency.path.OperatorPath.Waiting
import org.scalatest.funsuite.AnyFunSuite

/** What follows one another on the critical path of a batch, and what is said of it. */
class OperatorPathSuite extends AnyFunSuite {

  private def stage(upstream: Int*)(
      start: Double,
      end: Double,
      rest: Double
  )(nodes: (String, Option[Double])*) =
    StageTimes(
      upstream,
      start,
      end,
      1,
      nodes.map { case (id, ms) => NodeTimes(id, ms, end, 0, "1") },
      nodes.map(_._1),
      rest
    )

  private def batch(stages: StageTimes*): BatchTimes = BatchTimes(7, 0, Some(0.0), stages)
  private def path(stages: StageTimes*): OperatorPath = new OperatorPath(batch(stages: _*))

  private val source = stage()(0, 100, 40)("source" -> Some(0.0), "parse" -> Some(60.0))
  private val fast = stage(0)(105, 150, 0)("fast" -> Some(45.0))
  private val slow = stage(0)(110, 400, 0)("slow" -> Some(290.0))
  private val join = stage(1, 2)(420, 500, 30)("join" -> None, "sink" -> Some(50.0))
  private val diamond = Seq(source, fast, slow, join)

  test("steps follow one another and add up to the time from the first read to the last write") {
    val found = path(diamond: _*)
    assert(found.nodes === Seq("source", "parse", "slow", "join", "sink"))
    assert(found.steps === Seq(
      Step(Node, Seq("parse"), 60),
      Step(Rest, Seq("source", "parse"), 40),
      Step(Waiting, Seq("fast"), 5),
      Step(Waiting, Nil, 5),
      Step(Node, Seq("slow"), 290),
      Step(Waiting, Nil, 20),
      Step(Node, Seq("sink"), 50),
      Step(Rest, Seq("join", "sink"), 30)
    ))
    assert((found.latency, found.steps.map(_.ms).sum) === ((500.0, 500.0)))
    assert(found.longest.map(_.nodes) === Some(Seq("slow")))
    assert(math.abs(found.steps.map(found.share).sum - 1) < 1e-9)
  }

  test("without a node a batch of one stage takes so much less, and never less than nothing") {
    val found = path(source)
    assert(Seq("parse", "source", "elsewhere").map(found.without) === Seq(40.0, 100.0, 100.0))
    assert(path(stage()(0, 100, 0)("slow" -> Some(100.5))).without("slow") === 0.0)
  }

  test("where no node was watched nothing is on the path, and it takes no time") {
    assert((path().nodes, path().steps, path().latency, path().longest) === ((Nil, Nil, 0.0, None)))
  }

  test("a share is a part of the whole; what is not on the path or not known has none") {
    val found = path(diamond: _*)
    val shares = Seq("source", "parse", "slow", "fast", "join", "elsewhere").map(found.share)
    assert(shares === Seq(Some(0.0), Some(0.12), Some(0.58), None, None, None))
  }

  test("if a node cost nothing another way may be as slow") {
    val found = path(diamond: _*)
    assert(found.without("parse") === 440.0)
    // The rest of slow's stage, the wait before it, is less than fast takes.
    assert(found.without("slow") === 500.0 - 290 + (50 - 10))
    assert(Seq("fast", "join", "source", "elsewhere").map(found.without) === Seq.fill(4)(500.0))
  }

  test("what has the slots while a stage waits for its turn is named") {
    val found = path(
      stage()(0, 1000, 0)("left" -> Some(1000.0)),
      stage()(900, 1200, 0)("right" -> Some(300.0)),
      stage(0, 1)(1200, 1300, 0)("join" -> Some(100.0))
    )
    assert(found.steps.head === Step(Waiting, Seq("left"), 900))
    assert(found.nodes === Seq("right", "join") && found.latency === 1300.0)
  }

  test("they are named for as long as they have the slots, and not for what comes behind them") {
    val left = stage()(0, 1000, 0)("left" -> Some(1000.0))
    val right = stage()(6000, 7000, 0)("right" -> Some(1000.0))
    assert(path(left, right).steps === Seq(
      Step(Waiting, Seq("left"), 1000),
      Step(Waiting, Nil, 5000),
      Step(Node, Seq("right"), 1000)
    ))
    val beside = stage()(500, 1500, 0)("beside" -> Some(1000.0))
    assert(path(left, beside, right).steps.take(2) ===
      Seq(Step(Waiting, Seq("left", "beside"), 1500), Step(Waiting, Nil, 4500)))
  }

  private def text(stages: StageTimes*): String = Work.of(batch(stages: _*)).text

  test("a sentence says who was at work longest") {
    assert(
      text(diamond: _*) ===
        "Batch 7: the operators before slow took longest: 290 ms of 500 ms (58 %) from the first read to the last write."
    )
    val reading = stage()(0, 90, 60)("a" -> Some(0.0), "b" -> Some(30.0))
    assert(
      text(reading) ===
        "Batch 7: the rest of the stage of a and b took longest: 60 ms of 90 ms (67 %) from the first read to the last write."
    )
    val waiting = Seq(stage()(0, 10, 10)("a" -> Some(0.0)), stage(0)(100, 110, 0)("b" -> Some(10.0)))
    assert(text(waiting: _*) ===
      "Batch 7: the start of tasks and stages without a node took longest: 90 ms of 110 ms (82 %) from the first read to " +
      "the last write.")
    val held = Seq(stage()(0, 1000, 0)("left" -> Some(100.0)), stage()(900, 1200, 0)("right" -> Some(300.0)))
    assert(
      text(held: _*) ===
        "Batch 7: waiting for the slots of left took longest: 900 ms of 1.2 s (75 %) from the first read to the last write."
    )
    val last = Seq(stage()(0, 10, 10)("a" -> Some(0.0)), stage(0)(10, 110, 0)("b" -> Some(100.0)))
    assert(
      text(last: _*) ===
        "Batch 7: the stage of b took longest: 100 ms of 110 ms (91 %) from the first read to the last write."
    )
    val many = stage()(0, 90, 90)((1 to 6).map(i => s"n$i" -> Option.empty[Double]): _*)
    assert(text(many).contains("the rest of the stage of n1, n2, n3, n4 and 2 more took longest"))
    assert(text(stage()(0, 0, 0)("a" -> Some(0.0))) === "Batch 7 took no time to speak of.")
  }

  test(
    "what comes behind the last write is named where it takes longer than the operators; shares are of all of it"
  ) {
    def work(committedMs: Long) = Work.of(batch(diamond: _*), Some(committedMs))
    assert(work(1000).commit === None && work(1000).text === text(diamond: _*))
    assert(
      work(4500).text ===
        "Batch 7: what comes after sink took longest: 4 s of 4.5 s (89 %) from the first read to the commit."
    )
    assert(work(4500).commit.map(commit => (commit.node, commit.ms, commit.whole)) === Some((
      "sink",
      4000.0,
      4500.0
    )))
    assert(work(4500).commit.forall(commit => commit.share + work(4500).path.latency / commit.whole <= 1))
    assert(Work.of(batch(diamond: _*).copy(of = BatchTimes.Window), Some(4500)).commit === None)
  }

  private def notes(bound: Option[Double]): Seq[String] = {
    val times = batch(diamond: _*).copy(boundMs = bound)
    new QueryAnswer(
      Answered.query().copy(times = Some(times)),
      None
    ).notes.map(_.code).filter(_.startsWith("operator"))
  }

  test("a note says that clocks are not compared, or not well enough") {
    assert(Seq(None, Some(500.5), Some(500.0)).map(notes) === Seq(
      Seq("operator-clocks"),
      Seq("operator-bound"),
      Nil
    ))
  }
}
