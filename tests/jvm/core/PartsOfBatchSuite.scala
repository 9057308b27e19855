package io.sparklatency

import io.sparklatency.answer.Parts
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Held
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import org.scalatest.funsuite.AnyFunSuite

/** The parts of the age that a batch tells, and where each of them arose. */
class PartsOfBatchSuite extends AnyFunSuite with ExplainedBatches {

  test("what another stage did before is no part of what rows wait for at the end") {
    val before = times(43000).stages.head
    val end = NodeTimes("totals", Some(40), 43040, 0, "1")
    val two =
      times(43000).copy(stages =
        Seq(before, StageTimes(Seq(0), 43000, 43080, 1, Seq(end), Seq("totals"), 40))
      )
    val slow = batch(parts(work = 43040, commit = 2760, state = 10).copy(end = "totals"), two)
    assert(
      of(slow).parts.of.filter(_.kinds == Seq(Parts.Commit)).map(part => math.round(part.ms)) === Seq(2740)
    )
  }

  test(
    "what records wait in state is told of each operator that keeps it, as ages grow there beyond its work"
  ) {
    // Ages grow by 500, 200 and 900 ms. Of the first 100 are work, and before the last nothing is held.
    val held = Some(Held())
    val chain = Seq(
      Aged.node("source")(100),
      Aged.node("joined", "source")(600).copy(held = held),
      Aged.node("windows", "joined")(800).copy(held = held),
      Aged.node("sink", "windows")(1700)
    )
    val work = NodeTimes("joined", Some(100), 100, 0, "1")
    val busy =
      BatchTimes(7, 10200000, Some(0), Seq(StageTimes(Nil, 0, 100, 1, Seq(work), Seq("joined"), 0)))
    def state(ms: Double, nodes: Seq[NodeLatencies] = chain) =
      of(batch(parts(work = 0, state = ms), busy).copy(nodes = nodes), chain).parts.of
        .filter(_.kinds == Seq(Parts.State)).map(part => (part.name, part.nodes, part.ms))
    assert(state(900) === Seq(
      ("waited in state at joined", Seq("joined"), 600.0),
      ("waited in state at windows", Seq("windows"), 300.0)
    ))
    // A window's end is later than its records: nobody waited.
    assert(state(-900) === Seq(("waited in state", Nil, -900.0)))
    // One alone has all of it, also where it is negative.
    val one = chain.map(node => if (node.id == "joined") node.copy(held = None) else node)
    for (ms <- Seq(900.0, -900.0))
      assert(state(ms, one) === Seq(("waited in state at windows", Seq("windows"), ms)))
  }

  test("parts follow one another, and add up to the age at the commit") {
    val answered = of(batch(parts(before = 41000, work = 2000, state = 500), times(30, rest = 10)))
    assert(answered.parts.of.map(part => part.name -> part.ms) === Seq(
      "arrived old" -> 10.0,
      "backlog" -> 10.0,
      "waited for the batch before" -> 41000.0,
      "waited for the trigger" -> 10.0,
      "start of the batch" -> 10.0,
      "work at scored" -> 1500.0,
      "work in the stage of source and scored" -> 500.0,
      "waited in state at scored" -> 500.0,
      "commit" -> 10.0
    ))
    assert(answered.parts.whole === Some(43550.0))
    assert(math.abs(answered.parts.of.map(_.share).sum - 1) < 1e-9)
  }

  test("where records leave at several nodes it is said of which the parts are") {
    val audit = Aged.node("audit", "source")(50)
    def said(nodes: Seq[NodeLatencies]) =
      of(batch(parts(before = 41000)).copy(nodes = nodes), nodes).parts.text.map(_.split(": ").last)
    assert(said(nodes :+ audit) === Some("41 s on average at scored in the last batch"))
    assert(said(nodes) === Some("41 s on average in the last batch"))
  }

  test("in Prometheus and as gauges parts add up too, one with a negative sign among them") {
    val ended = of(batch(parts(before = 41000, work = 2000, state = -500), times(30, rest = 10))).query
    val query = ended.doing(None, 57000)
    val lines = PrometheusText("app", Seq(Answered.answer(query)), None).text.linesIterator
      .filter(_.startsWith("sparklatency_age_part"))
    assert(math.abs(lines.map(_.split(' ').last.toDouble).sum - 42.55) < 1e-9)
    assert(Parts.metrics.map(metric => metric.name -> metric.read(query)) === Seq(
      "age-arrived-old" -> Some(10),
      "age-backlog" -> Some(10),
      "age-waited-for-the-batch-before" -> Some(41000),
      "age-waited-for-the-trigger" -> Some(10),
      "age-start-of-the-batch" -> Some(10),
      "age-source-queuing" -> None,
      "age-processing" -> None,
      "age-work" -> Some(2000),
      "age-waited-in-state" -> Some(-500),
      "age-commit" -> Some(10),
      "age-source-queuing-and-processing" -> None
    ))
  }

  test("of many steps the longest are told, and what the others take together") {
    val ids = (1 to 6).map(i => s"n$i")
    val at = ids.zipWithIndex.map { case (id, i) => NodeTimes(id, Some(10.0 * (i + 1)), 0, 0, "1") }
    val many = BatchTimes(7, 10200000, Some(0), Seq(StageTimes(Nil, 0, 210, 1, at, ids, 0)))
    val told = of(batch(parts(work = 2100), many)).parts.of.filter(_.kinds == Seq(Parts.Work))
    assert(told.map(part => part.at -> math.round(part.ms)) === Seq(
      Some("at n3") -> 300,
      Some("at n4") -> 400,
      Some("at n5") -> 500,
      Some("at n6") -> 600,
      Some("elsewhere") -> 300
    ))
  }

  test("what is too small to be seen is no part, and a negative one has no share") {
    val answered = of(batch(parts(old = 0.01, backlog = 0, state = -300, work = 500)))
    assert(!answered.parts.of.exists(part =>
      part.kinds == Seq(Parts.ArrivedOld) || part.kinds == Seq(Parts.Backlog)
    ))
    assert(answered.parts.of.find(_.kinds == Seq(Parts.State)).map(part => part.ms -> part.share) === Some(
      -300.0 -> 0.0
    ))
    assert(answered.headline.whole === Some(540.0), answered.headline.text)
  }

  test("what came out is compared with what came in with it, and not with what has come in since") {
    def split(answered: QueryAnswer) = (answered.split.queuing.avg, answered.split.processing.flatMap(_.avg))
    val (told, since) = (batch(parts()), Aged.node("source")(20))
    assert(split(of(told, Seq(since, nodes.last))) === ((Some(100), Some(100))))
    // In a batch without data no record comes in.
    val without = told.copy(nodes = nodes.tail)
    assert(split(of(without, Seq(since, nodes.last))) === ((Some(20), Some(180))))
    // A batch that does not tell its parts came to the end later.
    val newer = of(told, Seq(since, nodes.last)).query
    val later = newer.copy(nodes = newer.nodes.map(_.copy(batchMs = Some(told.committedMs + 1))))
    assert(split(Answered.answer(later)) === ((Some(20), Some(180))))
  }
}
