package io.sparklatency

import io.sparklatency.answer.Cause
import io.sparklatency.answer.Headline
import io.sparklatency.answer.Parts
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Held
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.StageTimes
import io.sparklatency.figures.Waits
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

/** What makes records old, from the parts of their age. The batch was triggered at 10,000, reads from 10,200, and took 46 s. */
class CauseSuite extends AnyFunSuite {
  import Answered._

  private val nodes = Seq(Aged.node("source")(100), Aged.node("scored", "source")(200))
  private val admission =
    Admission(4000, 5000, 9000, 10000, 46000, Some("maxOffsetsPerTrigger"), Some(60000L))

  /** The way to `scored` takes so long, and what else its stage does. */
  private def times(scored: Double, rest: Double = 0): BatchTimes = {
    val at = Seq(NodeTimes("source", Some(0), 0, 0, "1"), NodeTimes("scored", Some(scored), scored, 0, "1"))
    BatchTimes(
      7,
      10200000,
      Some(0),
      Seq(StageTimes(Nil, 0, scored + rest, 1, at, Seq("source", "scored"), rest))
    )
  }

  private def batch(parts: AgeParts, work: BatchTimes = times(43000)): Batch = Batch(
    "orders",
    Some("id"),
    Some("run"),
    7,
    10000,
    56000,
    100,
    Map.empty,
    None,
    Nil,
    0,
    nodes,
    times = Some(work),
    admission = Some(admission),
    parts = Some(parts)
  )

  private def of(batch: Batch, nodes: Seq[NodeLatencies] = nodes): QueryAnswer =
    answer(query(nodes: _*).copy(explained = Some(batch), lastBatch = Some(batch)))

  private def parts(
      old: Double = 10,
      backlog: Double = 10,
      before: Double = 10,
      trigger: Double = 10,
      start: Double = 10,
      work: Double = 10,
      state: Double = 0,
      commit: Double = 10
  ) = AgeParts("scored", Waits(old, backlog, before, trigger, start), work, state, commit)

  private def said(batch: Batch, nodes: Seq[NodeLatencies] = nodes) = {
    val answered = of(batch, nodes)
    val headline = answered.headline
    assert(answered.slowestStep === headline.node)
    (headline.code.name, headline.node, headline.text)
  }

  test("where records wait for the batch before, the step is named that fills it") {
    assert(said(batch(parts(before = 41000))) === ((
      "waited-for-the-batch-before",
      Some("scored"),
      "Records wait for the batch before, 41 s of 41 s (100 %). A batch takes 46 s, 43 s of it at scored. Make that faster, or give " +
        "it more cores."
    )))
  }

  test("so it is where that is not one node's step, the commit, or the start") {
    assert(said(batch(parts(before = 41000), times(1000, rest = 40000)))._3.endsWith(
      "A batch takes 46 s, 40 s of it in the stage of source and scored. Make that faster, or give it more cores."
    ))
    assert(said(batch(parts(before = 41000), times(1000)))._3.endsWith(
      "A batch takes 46 s, 45 s of it after scored. Make the sink faster, and whatever stands before it without a node."
    ))
    val late = times(100).copy(firstReadMicros = 55000L * 1000)
    val (_, node, text) = said(batch(parts(before = 41000), late))
    assert(node === None && text.endsWith(
      "A batch takes 46 s, 45 s of it before it reads: offsets, planning, scheduling. Longer batches spend less on it."
    ))
  }

  test("where work leads, its longest step is the slowest") {
    assert(said(batch(parts(work = 940), times(40, rest = 10))) === ((
      "slowest-step",
      Some("scored"),
      "Slowest step: scored, 752 ms of 1 s (75 %). Make that faster, or give it more cores."
    )))
    assert(said(batch(parts(work = 940), times(10, rest = 40)))._3 ===
      "Slowest step: the stage of source and scored, 752 ms of 1 s (75 %). Make that faster, or give it more cores.")
  }

  test("what no step is to blame for names none") {
    assert(said(batch(parts(old = 940))) === ((
      "arrived-old",
      None,
      "Records arrive old: 940 ms of 1 s (94 %). They were not there to be read before, so no step of the query is the cause: look at " +
        "who writes them, and at their clock."
    )))
    val stamped = batch(parts(old = 940)).copy(nodes = nodes.map(_.copy(timestamp = Some("event_time"))))
    assert(said(stamped)._3.startsWith("Records arrive old: 940 ms of 1 s (94 %), by event_time. They"))
    assert(said(batch(parts(trigger = 940))) === ((
      "waited-for-the-trigger",
      None,
      "Records wait for the trigger, 940 ms of 1 s (94 %). It comes every 1 min. A shorter interval makes them younger."
    )))
    assert(said(batch(parts(start = 940))) === ((
      "start-of-the-batch",
      None,
      "It takes long until a batch begins to read, 940 ms of 1 s (94 %): offsets, planning, scheduling. Fewer files and partitions " +
        "make it shorter."
    )))
  }

  test("a backlog names the limit, and the step that fills the batch") {
    assert(said(batch(parts(backlog = 940))) === ((
      "backlog",
      Some("scored"),
      "Records wait in the backlog, 940 ms of 1 s (94 %): maxOffsetsPerTrigger admits no more. A batch takes 46 s, 43 s of it at " +
        "scored. Raise the limit, or make the batch faster."
    )))
  }

  test("where rows come one by one, they wait for the work on the others, and not for the sink") {
    // The last write is at 53,240, the commit at 56,000. On average rows have left the last node after half of that.
    val slow = batch(parts(before = 22000, work = 21520, commit = 24280), times(43000, rest = 40))
    assert(said(slow) === ((
      "slowest-step",
      Some("scored"),
      "Slowest step: scored, 43 s of 1.1 min (63 %). Make that faster, or give it more cores."
    )))
    val told = of(slow).parts.of.map(part => part.name -> math.round(part.ms)).toMap
    assert(told("work at scored") === 43000 && told("work in the stage of source and scored") === 20)
    assert(told("commit") === 2780, "with what the rest of the stage does meanwhile, as to write")
    assert(math.abs(of(slow).parts.whole.get - 67840) < 1e-6)
  }

  test("where the rest of a stage is at work, as a sink that writes row by row, that is the commit's") {
    val slow = batch(parts(work = 21520, commit = 24280), times(0, rest = 43040))
    assert(said(slow)._1 === "commit")
    assert(of(slow).parts.of.filter(_.kinds == Seq(Parts.Commit)).map(_.ms) === Seq(24280.0))
  }

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

  test("a slow commit names the last node") {
    assert(said(batch(parts(commit = 940))) ===
      ((
        "commit",
        Some("scored"),
        "What comes after scored takes 940 ms of 1 s (94 %): the sink, and whatever stands before it without a node. Make that faster."
      )))
  }

  test("waiting in state names the operator that keeps it, and the watermark that it waits for") {
    val slow = batch(parts(state = 940, work = 0)).copy(watermarks =
      Seq(
        SourceWatermark("kafka[a]", "ts", 5000, Some(1), holdsBack = false),
        SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true)
      )
    )
    assert(said(slow) === ((
      "waited-in-state",
      Some("scored"),
      "Records wait in state before scored, 940 ms of 1 s (94 %). They leave when the watermark of kafka[b], 3 s behind its " +
        "newest event, passes them: a shorter delay or window makes them younger."
    )))
    val windowed = Seq(
      Aged.node("source")(100),
      Aged.node("aggregate-1", "source")(600).copy(held = Some(Held(None))),
      Aged.node("sink", "aggregate-1")(1400)
    )
    assert(
      said(slow.copy(nodes = windowed), windowed)._2 === Some("aggregate-1"),
      "though more is lost behind it"
    )
  }

  test("of a window its length is named, for records leave when the watermark passes its end") {
    val slow = batch(parts(state = 940, work = 0)).copy(
      nodes = Seq(nodes.head, nodes.last.copy(held = Some(Held(Some(60000))))),
      watermarks = Seq(SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true))
    )
    assert(said(slow)._3.endsWith(
      "They leave when the watermark of kafka[b], 3 s behind its newest event, passes the end of their window of 1 min: a shorter " +
        "delay or window makes them younger."
    ))
  }

  test(
    "what records wait in state is told of each operator that keeps it, as ages grow there beyond its work"
  ) {
    // Ages grow by 500, 200 and 900 ms. Of the first 100 are work, and before the last nothing is held.
    val held = Some(Held(None))
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

  test("where a shorter delay would do, it is named") {
    val slow = batch(parts(state = 940, work = 0)).copy(watermarks =
      Seq(SourceWatermark("kafka[b]", "ts", 10000, Some(0), holdsBack = true))
    )
    def text(behind: Long) = {
      val known = of(slow).query.copy(outOfOrder = Aged.records(Seq.fill(10000)(behind): _*))
      answer(known).headline.text
    }
    assert(text(3000).endsWith(
      "10 s behind its newest event, passes them: 4 s are enough for 99.99 % of records, and make them 6 s younger."
    ))
    for (behind <- Seq(9000, 20000))
      assert(text(behind.toLong).endsWith("a shorter delay or window makes them younger."))
  }

  test("in a join records wait for the other side, and no delay or window is to blame") {
    val joined = Aged.node("joined", "orders", "clicks")(940)
    val ends = Seq(Aged.node("orders")(0), Aged.node("clicks")(0), joined)
    val slow = batch(parts(state = 940, work = 0).copy(end = "joined")).copy(
      nodes = ends,
      watermarks = Seq(SourceWatermark("kafka[b]", "at", 3000, Some(1), holdsBack = true))
    )
    assert(of(slow, ends).headline.text ===
      "Records wait in state before joined, 940 ms of 1 s (94 %). They leave when a match comes from the other side, or when the " +
      "watermark of kafka[b], 3 s behind its newest event, passes them.")
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

  test("in Prometheus and as gauges parts add up too, one with a negative sign among them") {
    val query = of(batch(parts(before = 41000, work = 2000, state = -500), times(30, rest = 10))).query
    val lines =
      PrometheusText("app", Seq(query), None).text.linesIterator.filter(_.startsWith("sparklatency_age_part"))
    assert(math.abs(lines.map(_.split(' ').last.toDouble).sum - 42.55) < 1e-9)
    assert(Parts.metrics.map(metric => metric.name -> metric.read(query)) === Seq(
      "age-arrived-old" -> Some(10),
      "age-backlog" -> Some(10),
      "age-waited-for-the-batch-before" -> Some(41000),
      "age-waited-for-the-trigger" -> Some(10),
      "age-start-of-the-batch" -> Some(10),
      "age-work" -> Some(2000),
      "age-waited-in-state" -> Some(-500),
      "age-commit" -> Some(10)
    ))
    assert(Parts.metrics.flatMap(_.read(query.copy(explained = None))) === Nil)
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

  test("of a batch by itself the cause is the same") {
    for (parts <- Seq(parts(before = 41000), parts(work = 940), parts(trigger = 940), parts(commit = 940))) {
      val one = batch(parts)
      assert(Cause.of(one, new LatencyPath(one.nodes)).map(cause => (cause.part.kinds, cause.nodes)) ===
        of(one).cause.map(cause => (cause.part.kinds, cause.nodes)))
    }
    assert(Cause.of(batch(parts()).copy(parts = None), new LatencyPath(nodes)) === None)
  }

  test("a batch that does not tell its parts leaves the headline to the ages") {
    val headline = of(batch(parts()).copy(parts = None)).headline
    assert((
      headline.code,
      headline.text
    ) === ((Headline.SlowestStep, "Slowest step: before source, 100 ms of 200 ms (50 %)")))
  }
}
