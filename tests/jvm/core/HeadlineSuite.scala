package io.sparklatency

import io.sparklatency.answer.Headline
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.figures.MarkersSnapshot
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodePartitions
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.PartitionTimes
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.StageTimes
import io.sparklatency.figures.WatermarkKind
import io.sparklatency.recording.LatencySummary
import org.scalatest.funsuite.AnyFunSuite

/** Which step takes the time, in one sentence. */
class HeadlineSuite extends AnyFunSuite {
  import Aged._
  import Answered.Measured
  import Answered.said

  private def of(nodes: NodeLatencies*): Headline = Answered.answer(Answered.query(nodes: _*)).headline

  private val faster = "Make that faster, or give it more cores."
  private val unread =
    "Records arrive old, or wait to be read: look at who writes them, and at when a batch reads them."

  test("the slowest step is named, with its time, the whole, and its part of it") {
    assert(said(of(node("source")(1600), node("sink", "source")(4200))) === ((
      "slowest-step",
      Some("sink"),
      Some(2600.0),
      Some(4200.0),
      Some(2600 / 4200.0),
      s"Slowest step: sink, 2.6 s of 4.2 s (62 %). $faster"
    )))
  }

  test("the age that records come with arose before the source") {
    assert(said(of(node("source")(2600), node("sink", "source")(4200))) === ((
      "slowest-step",
      Some("source"),
      Some(2600.0),
      Some(4200.0),
      Some(2600 / 4200.0),
      s"Slowest step: before source, 2.6 s of 4.2 s (62 %). $unread"
    )))
  }

  test("one node tells how old records are, and that it takes another to tell why") {
    assert(said(of(node("src")(5900, 6100))) === ((
      "one-node",
      Some("src"),
      Some(6000.0),
      Some(6000.0),
      Some(1.0),
      "Records are 6 s old at src on average. Mark another node to see which step takes the time."
    )))
  }

  test("where the nodes before it measured nothing, no other mark would help") {
    val headline = of(node("source")(), node("sink", "source")(6000))
    assert((headline.code, headline.own) === ((Headline.OneNode, None)))
    assert(headline.text ===
      "Records are 6 s old at sink on average. No record with a timestamp was measured before it.")
  }

  test("without a measured record nothing is known") {
    def saidOf(nodes: NodeLatencies*) = said(of(nodes: _*))
    assert(saidOf(node("source")(), node("sink", "source")()) ===
      (("unknown", None, None, None, None, "No record with a timestamp has been measured yet.")))
    assert(saidOf()._6 === "No batch of the query with a marked node has ended yet.")
  }

  test("of records that have not reached the end it is not said that there are none") {
    val headline = of(node("source")(100), node("sink", "source")())
    assert((headline.code, headline.text) ===
      ((Headline.Unknown, "No record with a timestamp has reached the end of the query yet.")))
  }

  test("where records wait for the watermark it is said which source holds that back") {
    def headline(
        silent: Option[Long],
        kind: WatermarkKind = WatermarkKind.EventTime,
        isUsed: Boolean = true,
        ofQuery: Option[Option[Long]] = None
    ): String = {
      val watermarks = Seq(
        SourceWatermark("kafka[a]", "at", 0, Some(60000), holdsBack = false),
        SourceWatermark("kafka[b]", "at", 0, silent, holdsBack = true, kind)
      )
      val query = ofQuery.getOrElse(silent)
      val batch = Batch("orders", None, None, 1, 0, 61000, 1, Map.empty, query, watermarks, 0, Nil)
        .copy(usesWatermark = isUsed)
      val answered = Answered.query(node("source")(100), node("sink", "source")())
      Answered.answer(answered.copy(lastBatch = Some(batch))).headline.text
    }
    val nothing = "No record with a timestamp has reached the end of the query yet."
    assert(
      headline(None) === s"$nothing The watermark has not moved: no record has come from kafka[b]. " +
        "A system-time watermark on it moves on while kafka[b] is silent; an idle timeout lets the others go on."
    )
    val heldBack =
      s"$nothing At the last commit the watermark was 1 min behind the clock. kafka[b] holds it back. " +
        "A system-time watermark on it moves on while kafka[b] is silent; an idle timeout lets the others go on."
    assert(headline(Some(999)) === heldBack)
    assert(headline(None, ofQuery = Some(Some(999))) === heldBack, "the query's is from before a restart")
    assert(headline(Some(999), WatermarkKind.SystemTime) ===
      s"$nothing At the last commit the watermark was 1 min behind the clock. kafka[b] holds it back.")
    // It is where it should be, and moves.
    assert(headline(Some(1000)) === s"$nothing At the last commit the watermark was 1 min behind the clock.")
    // A filter has dropped all, say.
    for (silent <- Seq(None, Some(999L))) assert(headline(silent, isUsed = false) === nothing)
  }

  test("where no time passes, or clocks differ, no step is blamed") {
    assert(of(node("source")(0), node("sink", "source")(0)).text ===
      "Records are 0 ms old at sink on average: no step stands out.")
    // The first node's own time is unknown, for the one before it measured nothing, and the last one's is negative.
    assert(of(node("gone")(), node("merge", "gone")(150), node("last", "merge")(120)).text ===
      "Records are 120 ms old at last on average: no step stands out.")
  }

  test("where records are further ahead of the clock than all steps took, no step is blamed") {
    def ahead(by: String, hint: String = "") =
      s"Records are ahead of the clock, by $by, so nobody knows how long they waited: look at who writes them, and at their clock.$hint"
    for (sink <- Seq(-5000L, -1L)) {
      val early = Answered.answer(Answered.query(node("source")(-5000), node("sink", "source")(sink)))
      assert((early.headline.code, early.headline.text) === ((Headline.Unknown, ahead("5 s on average"))))
      assert(early.slowestStep === None)
    }
    val slow = Answered.answer(Answered.query(node("source")(-5000), node("sink", "source")(1)))
    assert(slow.headline.text === s"Slowest step: sink, 5 s of 5 s (100 %). $faster")
    assert(slow.slowestStep === Some("sink"))
    val alone = of(node("sink")(-7200000).by("placed"))
    assert((alone.code, alone.text) === ((
      Headline.OneNode,
      ahead("2 h on average, by placed", " Is the time zone of its timestamp right?")
    )))
  }

  test("in silence it is the headline of each node's last batch") {
    val silent = Answered.silent(node("source")(1600), node("sink", "source")(4200))
    assert(Answered.answer(silent).headline.text === s"Slowest step: sink, 2.6 s of 4.2 s (62 %). $faster")
  }

  test("while a node is quiet it is the headline of its own last batch and the others' window") {
    val quiet = Answered.query(node("source")(1600)).nodes ++
      Answered.silent(node("source")(1), node("sink", "source")(4200)).nodes.drop(1)
    assert(Answered.answer(Answered.query().copy(nodes = quiet)).headline.text ===
      s"Slowest step: sink, 2.6 s of 4.2 s (62 %). $faster")
  }

  test("a running batch, of which one node has shown more than the next, moves no share and no headline") {
    val ended = Seq(node("source")(1600), node("sink", "source")(4200))
    def running(batches: Seq[NodeLatencies], shown: Long*) = Answered.query(batches: _*).copy(nodes =
      Answered.query(batches: _*).nodes.zip(shown).map { case (node, ms) =>
        val figures = node.measures(Measure.E2ELatency)
        val more = MeasureSnapshot(figures.total, figures.window + records(ms, ms, ms), figures.total)
        node.copy(measures = Map(Measure.E2ELatency -> more.copy(ended = Some(figures.window))))
      }
    )
    val steady = Answered.answer(running(ended, 9000, 4300))
    assert(said(steady.headline) === said(of(ended: _*)))
    assert(steady.path.nodes.flatMap(steady.path.share(_)).map(share => math.round(share * 100)) === Seq(
      38,
      62
    ))
    assert(steady.path.nodes.head(Measure.E2ELatency).max === Some(9000), "which is shown all the same")

    // No batch has ended within the window: the last one is there to compare.
    val long = running(Seq(node("source")(), node("sink", "source")()), 9000, 4300)
    val before = long.copy(nodes = long.nodes.zip(ended).map { case (now, last) =>
      now.copy(batch = last.measures)
    })
    assert(said(Answered.answer(before).headline) === said(of(ended: _*)))
    assert(
      Answered.answer(long).headline.text.startsWith("Slowest step: before source, 9 s"),
      "in the first batch"
    )
  }

  test("where no batch ends nodes are compared by what tasks have shown") {
    val before = Answered.query(node("source")(1600), node("sink", "source")(4200))
    val now = Answered.withoutEnd(node("source")(100), node("sink", "source")(9000))
    val shown = now.copy(nodes = now.nodes.zip(before.nodes).map { case (one, last) =>
      one.copy(
        batch = last.batch,
        measures = one.measures.map { case (of, all) => of -> all.copy(ended = last.batch.get(of)) }
      )
    })
    assert(Answered.answer(shown).headline.text ===
      s"Slowest step: sink, 8.9 s of 9 s (99 %). $faster")
  }

  test("where no batch ends and no record came within the window, it is not said that none ever has") {
    val running = Answered.withoutEnd(node("source")(100), node("sink", "source")(900))
    val nodes = Answered.silent(node("source")(100), node("sink", "source")(900)).nodes
    val silent = Answered.answer(running.copy(nodes = nodes.map(_.copy(batch = Map.empty))))
    assert(silent.headline.text === "No record with a timestamp came within the last 1 min.")
    assert(silent.notes.find(_.code == "silent").map(_.text) === Some(silent.headline.text))
  }

  test("where a batch took longer than the window all nodes are compared by the whole batch") {
    val whole = Answered.query(node("source")(7000, 6000, 1000), node("sink", "source")(7500, 6500, 1500))
    assert(
      Answered.answer(whole).headline.text === s"Slowest step: before source, 4.7 s of 5.2 s (90 %). $unread"
    )
    // Of what the source showed first, nothing is in the window.
    val rest = whole.nodes.head.measures.map { case (of, all) => of -> all.copy(window = Aged.records(1000)) }
    val gone = whole.copy(nodes = whole.nodes.head.copy(measures = rest) +: whole.nodes.tail)
    val path = Answered.answer(gone).path
    assert(path.own(path.node("sink")) === Some(500.0))
  }

  test("a node that no batch has reached is compared with none, and keeps the others' shares") {
    val all = Answered.query(node("source")(1600), node("sink", "source")(4200), node("new", "source")(9000))
    def running(ended: LatencySummary)(node: NodeSnapshot) = {
      val measures = node.measures.map { case (of, figures) => of -> figures.copy(ended = Some(ended)) }
      node.copy(measures = measures)
    }
    val nodes = all.nodes.map(one =>
      if (one.id == "new") running(LatencySummary.empty)(one).copy(batch = Map.empty)
      else running(one.lastLatency)(one)
    )
    assert(Answered.answer(all.copy(nodes =
      nodes
    )).headline.text === s"Slowest step: sink, 2.6 s of 4.2 s (62 %). $faster")
  }

  /** A query whose records have no timestamp, and who was at work for it. */
  private def worked(of: BatchTimes.Of, stages: StageTimes*): QuerySnapshot =
    Answered.query(node("source")(), node("sink", "source")()).copy(
      markers = Some(MarkersSnapshot(MarkerSettings(Some(1000)), 0, None, Nil, 0)),
      times = Some(BatchTimes(7, 0, Some(0), stages, of))
    )

  test(
    "without timestamps the step is named that is at work longest, or the stage in which the sink writes, too"
  ) {
    def headline(stages: StageTimes*): String = headlineOf(BatchTimes.Batch, stages: _*)
    def headlineOf(of: BatchTimes.Of, stages: StageTimes*): String =
      Answered.answer(worked(of, stages: _*)).headline.text
    def at(id: String, ms: Double) = NodeTimes(id, Some(ms), 0, 0, "1")
    val figures = s"90 ms of 100 ms (90 %) of the work on a batch. $faster"
    val nodes = Seq(at("source", 0), at("sink", 90))
    val one = StageTimes(Nil, 0, 100, 1, nodes, nodes.map(_.node), 10)
    assert(headline(one) === s"Slowest step: sink, $figures")
    assert(headlineOf(BatchTimes.Window, one) ===
      s"Slowest step: sink, 90 ms of 100 ms (90 %) of the work in the last second. $faster")
    assert(headline(
      StageTimes(Nil, 0, 10, 1, nodes.take(1), Seq("source"), 10),
      StageTimes(Seq(0), 10, 100, 1, nodes.drop(1), Seq("sink"), 0)
    ) === s"Slowest step: the stage of sink, $figures")
    val rest = Seq(at("source", 0), at("sink", 10))
    assert(headline(StageTimes(Nil, 0, 100, 1, rest, rest.map(_.node), 90)) ===
      "Batch 7: the rest of the stage of source and sink took longest: 90 ms of 100 ms (90 %) from the first read to the last write. " +
      faster)
    assert(headline(
      StageTimes(Nil, 0, 10, 1, nodes.take(1), Seq("source"), 10),
      StageTimes(Seq(0), 100, 110, 1, Seq(at("sink", 10)), Seq("sink"), 0)
    ) === "Batch 7: the start of tasks and stages without a node took longest: 90 ms of 110 ms (82 %) from the first read to the last " +
      "write. Persist what foreachBatch reads twice, or mark a step there to see whose it is.")
    // While a batch hangs it is that of the last one, which the headline does not tell then.
    val activity = Activity(8, "Processing new data", Some(60000), hasData = true)
    val hangs = Answered.answer(
      worked(BatchTimes.Batch, one).copy(activity = Some(activity), atMs = Some(70000)),
      Some(RunStatus.Running)
    )
    assert((hangs.headline.code, hangs.slowestStep) === ((Headline.Stalled, Some("sink"))))
  }

  test("without timestamps, too, more cores are not advised where a step waits for one partition") {
    def headline(of: BatchTimes.Of): String = {
      val only = NodePartitions(1, 1900, 1900, Seq(PartitionTimes(0, "1", 1900, 1900, Some(1900), 10)))
      val nodes =
        Seq(NodeTimes("source", Some(0), 0, 0, "1"), NodeTimes("sink", Some(1900), 1900, 0, "1", only))
      Answered.answer(worked(of, StageTimes(Nil, 0, 2000, 1, nodes, nodes.map(_.node), 100))).headline.text
    }
    val figures = "Slowest step: sink, 1.9 s of 2 s (95 %) of the work"
    assert(headline(BatchTimes.Batch) ===
      s"$figures on a batch. All its records are in one partition: spread them over several. More cores do not help.")
    // Nor where ages tell the step, as those of a batch query do.
    val only = NodePartitions(1, 1900, 1900, Seq(PartitionTimes(0, "1", 1900, 1900, Some(1900), 10)))
    val nodes =
      Seq(NodeTimes("source", Some(0), 0, 0, "1"), NodeTimes("sink", Some(1900), 1900, 0, "1", only))
    val times = worked(BatchTimes.Batch, StageTimes(Nil, 0, 2000, 1, nodes, nodes.map(_.node), 100)).times
    val aged = Answered.query(node("source")(100), node("sink", "source")(2000)).copy(times = times)
    assert(
      Answered.answer(aged).headline.text ===
        "Slowest step: sink, 1.9 s of 2 s (95 %). All its records are in one partition: spread them over several. More cores do not help."
    )
    // What a partition does in a second says nothing of all that it has to do.
    assert(headline(BatchTimes.Window) === s"$figures in the last second. $faster")
  }

  test("a name is on one line, and no longer than a sentence bears; the node's id is whole") {
    val id = "a" * 40 + "\n" + "b" * 40
    val headline = of(node("source")(1), node(id, "source")(4000))
    assert(headline.node === Some(id))
    assert(headline.words === Headline.Words(
      "Slowest step: ",
      "a" * 24 + "…" + "b" * 23,
      s", 4 s of 4 s (100 %). $faster"
    ))
    assert(of(node("a\tb")(6000)).text.startsWith("Records are 6 s old at a\\tb on average."))
  }
}
