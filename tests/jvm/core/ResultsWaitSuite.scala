package io.sparklatency

import io.sparklatency.answer.Headline
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Held
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import org.scalatest.funsuite.AnyFunSuite

/** What the headline says when nothing comes out any more, because a source has fallen silent. */
class ResultsWaitSuite extends AnyFunSuite {
  import Aged.node

  private val clicks = SourceWatermark("kafka[clicks]", "clicked", 10000, Some(80000), holdsBack = true)
  private val orders = SourceWatermark("kafka[orders]", "placed", 10000, Some(180000), holdsBack = false)
  private val nodes = Seq(node("source")(1600), node("joined", "source")(4200))

  /** At 200 s. The last results came at 95 s, when the watermark of `clicks` stood at `thenMs`; it stands at 80 s. */
  private def query(
      thenMs: Long = 80000,
      held: Held = Held(until = Held.MatchOrWatermark),
      clicks: SourceWatermark = clicks
  ): QuerySnapshot = {
    val batch =
      Batch(
        "orders",
        None,
        None,
        9,
        190000,
        190000,
        1,
        Map.empty,
        Some(80000),
        Seq(clicks, orders),
        0,
        Seq(nodes.head, nodes.last.copy(held = Some(held)))
      )
    Answered.query().copy(
      nodes = Answered.query(nodes: _*).nodes.take(1) :+ quiet(thenMs),
      lastBatch = Some(batch),
      atMs = Some(200000)
    )
  }

  private def quiet(thenMs: Long): NodeSnapshot = Answered.silent(nodes: _*).nodes.last
    .copy(batchMs = Some(95000), watermarks = Seq(clicks.copy(watermarkMs = Some(thenMs)), orders))

  private val heldBack =
    "kafka[clicks] holds the watermark back: 2 min behind the clock, with a delay of 10 s. " +
      "A system-time watermark on it moves on while kafka[clicks] is silent; an idle timeout lets the others go on."
  private val ofLastResults =
    "Slowest step: joined, 2.6 s of 4.2 s (62 %). Make that faster, or let its state give records out earlier."

  private def said(query: QuerySnapshot): String = Answered.answer(query).headline.text

  test("it names the source that holds the watermark back, and no step") {
    val answer = Answered.answer(query())
    assert((answer.headline.code, answer.headline.code.name, answer.headline.text) ===
      ((Headline.SilentSource, "silent-source", heldBack)))
    assert((answer.headline.node, answer.headline.share, answer.headline.short) === ((None, None, None)))
    assert(answer.slowestStep === None)
    assert(answer.notes.filter(_.text == heldBack).map(_.code) === Seq("silent-source"))
    // What the last results were made of is there all the same.
    assert(answer.path.slowestStep.map(_.id) === Some("joined"))
  }

  test("while something comes out it is the headline of that") {
    val before = quiet(thenMs = 80000)
    val flowing = query().copy(nodes =
      Answered.query(nodes: _*).nodes.map(_.copy(batchMs = before.batchMs, watermarks = before.watermarks))
    )
    assert(said(flowing) === ofLastResults)
    assert(Answered.answer(flowing).slowestStep === Some("joined"))
    assert(Answered.notes(flowing, "silent-source").map(_.text) === Seq(heldBack))
  }

  test(
    "a source that is behind with events that come is not silent: windows may not have closed for a while"
  ) {
    // At the last commit its watermark was 110 s behind.
    assert(said(query(thenMs = 95000 - 50000)) === ofLastResults)
    assert(said(query(thenMs = 95000 - 49999)) === heldBack)
    val unknown = query().copy(nodes = query().nodes.map(_.copy(batchMs = None)))
    assert(said(unknown) === ofLastResults)
  }

  test("what gives its results out before the watermark passes them does not wait for a source") {
    for (held <- Seq(Held(eachBatch = true), Held(until = Held.Match), Held(until = Held.Function)))
      assert(said(query(held = held)) === ofLastResults, held)
    for (until <- Seq(Held.Watermark, Held.FunctionOrWatermark))
      assert(said(query(held = Held(until = until))) === heldBack, until)
  }

  test("a source without a record in this run stands where the query's watermark stands") {
    val restarted = clicks.copy(watermarkMs = None)
    assert(said(query(clicks = restarted)) === heldBack)
    assert(said(query(thenMs = 95000 - 50000, clicks = restarted)) === ofLastResults)
  }

  test("where no record comes at all, the source is named that holds the watermark back") {
    val silent =
      query().copy(nodes = Answered.silent(nodes: _*).nodes, usuallyMs = Some(1000), atMs = Some(260000))
    assert(said(silent).startsWith("kafka[clicks] holds the watermark back: 3 min behind the clock"))
    assert(Answered.notes(silent, "silent-source").map(_.level.name) === Seq("warn"))
    assert(
      Answered.notes(silent.copy(endless = true), "silent-source") === Nil,
      "no watermark moves there for minutes"
    )
    assert(said(silent.copy(atMs = None)) === ofLastResults, "a run that has ended waits for nothing")
  }

  test("a batch that hangs comes first") {
    val activity = Activity(10, "Processing new data", Some(60000), hasData = true)
    val hangs: QueryAnswer = Answered.answer(query().copy(activity = Some(activity)), Some(RunStatus.Running))
    assert(hangs.headline.code === Headline.Stalled)
  }
}
