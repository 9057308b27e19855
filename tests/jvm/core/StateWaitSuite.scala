package io.sparklatency

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Filling
import io.sparklatency.figures.Held
import io.sparklatency.figures.SourceWatermark
import org.scalatest.funsuite.AnyFunSuite

/** For what records wait in the state of a node, and what makes that shorter. */
class StateWaitSuite extends AnyFunSuite with ExplainedBatches {
  import Answered._

  /** A batch soon after the one before. */
  private val inState =
    batch(parts(state = 940, work = 0)).copy(admission =
      Some(admission.copy(tookMs = 500, intervalMs = None))
    )

  test("waiting in state names the operator that keeps it, and the watermark that it waits for") {
    val slow = inState.copy(watermarks =
      Seq(
        SourceWatermark("kafka[a]", "ts", 5000, Some(1), holdsBack = false),
        SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true)
      )
    )
    assert(said(slow) === ((
      "waited-in-state",
      Some("scored"),
      "Records wait in state before scored, 940 ms of 1 s (94 %). They leave when the watermark of kafka[b], 3 s behind its " +
        "newest event, passes them: a shorter delay makes them younger."
    )))
    val windowed = Seq(
      Aged.node("source")(100),
      Aged.node("aggregate-1", "source")(600).copy(held = Some(Held())),
      Aged.node("sink", "aggregate-1")(1400)
    )
    assert(
      said(slow.copy(nodes = windowed), windowed)._2 === Some("aggregate-1"),
      "though more is lost behind it"
    )
  }

  for (
    (what, held, end, shorter) <- Seq(
      (
        "window its length",
        Held(windowMs = Some(60000)),
        "the end of their window of 1 min",
        "delay or window"
      ),
      (
        "session its gap",
        Held(gapMs = Some(5000)),
        "the end of their session, 5 s after its last record",
        "delay or gap"
      )
    )
  ) test(s"of a $what is named, for records leave when the watermark passes its end") {
    def text(state: Double) = said(inState.copy(
      parts = Some(parts(state = state, work = 0)),
      nodes = Seq(nodes.head, nodes.last.copy(held = Some(held))),
      watermarks = Seq(SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true))
    ))._3
    def passes(shorter: String) =
      s"They leave when the watermark of kafka[b], 3 s behind its newest event, passes $end: a shorter $shorter makes them younger."
    // The delay, and two batches of half a second: so long waits what is dated by the end itself.
    assert(text(4000).endsWith(passes("delay")))
    assert(
      text(4001).endsWith(passes(shorter)),
      "what is dated by its oldest record waits for the others too"
    )
  }

  test("behind a join that may give out much older records, its range of time is to blame") {
    def text(laterMs: Long, others: SourceWatermark*) = waited(3604000, laterMs, others)
    // The delay, the range and two batches.
    def waited(state: Double, laterMs: Long, others: Seq[SourceWatermark]) = said(inState.copy(
      parts = Some(parts(state = state, work = 0)),
      nodes = Seq(nodes.head, nodes.last.copy(held = Some(Held(windowMs = Some(60000), laterMs = laterMs)))),
      watermarks = SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true) +: others
    ))._3
    val passes = "3 s behind its newest event, passes the end of their window of 1 min"
    assert(text(3600000).endsWith(
      s"$passes, and 1 h more: for so long a join before may give out older records. A shorter range of time in its condition makes them " +
        "younger."
    ))
    assert(text(3000).endsWith(s"$passes: a shorter delay or window makes them younger."))
    assert(waited(3604001, 3600000, Nil).endsWith("younger. A shorter window makes them younger, too."))
    // A source that is further behind than that keeps them longer.
    val ahead = SourceWatermark("kafka[a]", "ts", 3000, Some(7200000), holdsBack = false)
    assert(text(3600000, ahead).contains(s"$passes. The events of kafka[b] are 2 h behind those of kafka[a]"))
    assert(text(7200000, ahead).contains(s"$passes, and 2 h more"))
  }

  test("where each batch gives out what there is so far, no watermark is waited for") {
    val soFar = Held(windowMs = Some(60000), eachBatch = true)
    def text(cameInMs: Long*) = said(inState.copy(
      nodes = Seq(Aged.node("source")(cameInMs: _*), nodes.last.copy(held = Some(soFar))),
      watermarks = Seq(SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true))
    ))._3
    val (dated, none) = (
      "Results at scored are dated by older records in them",
      "940 ms of 1 s (94 %). Each batch gives out what there is so far, so none waits for the watermark."
    )
    assert(text(100) === s"$dated, $none")
    // Results were 990 ms old when they were read.
    assert(text(1, 985) === s"$dated, $none")
    assert(text(1, 995) === s"$dated, or are of small groups that came in older than most, $none")
  }

  for (
    (until, leave) <- Seq(
      Held.Match -> "a match comes from the other side.",
      Held.MatchOrWatermark ->
        "a match comes from the other side, or when the watermark of kafka[b], 3 s behind its newest event, passes them.",
      Held.Function -> "the function that keeps them gives them out.",
      Held.FunctionOrWatermark ->
        ("the function that keeps them gives them out, as it may when the watermark of kafka[b], 3 s behind its newest event, passes a " +
          "time that it has set.")
    )
  ) test(s"records that wait for a ${until.name} leave when that comes") {
    val slow = inState.copy(
      nodes = Seq(nodes.head, nodes.last.copy(held = Some(Held(until = until)))),
      watermarks = Seq(SourceWatermark("kafka[b]", "ts", 3000, Some(0), holdsBack = true))
    )
    assert(said(slow)._3 ===
      s"Records wait in state before scored, 940 ms of 1 s (94 %). They leave when $leave")
  }

  test("where a shorter delay would do, it is named") {
    val slow = inState.copy(watermarks =
      Seq(SourceWatermark("kafka[b]", "ts", 10000, Some(0), holdsBack = true))
    )
    def text(behind: Long, slow: Batch = slow) = {
      val known = of(slow).query.copy(outOfOrder = Aged.records(Seq.fill(10000)(behind): _*))
      answer(known).headline.text
    }
    assert(text(3000).endsWith(
      "10 s behind its newest event, passes them: 4 s are enough for 99.99 % of records, and make them 6 s younger."
    ))
    assert(text(9000).endsWith("passes them: a shorter delay makes them younger."))
    assert(text(20000).endsWith(
      "passes them. A shorter delay would drop more: at least 10,000 of 10,000 came later than it."
    ))
    // Dated by their oldest records.
    val long = slow.copy(
      parts = Some(parts(state = 3600000, work = 0)),
      nodes = Seq(nodes.head, nodes.last.copy(held = Some(Held(windowMs = Some(3600000)))))
    )
    assert(text(3000, long).endsWith("and make them 6 s younger. A shorter window makes them younger, too."))
    assert(text(20000, long).endsWith("came later than it. A shorter window makes them younger."))
  }

  test("where batches are further apart than the watermark waits, they are to blame and not the delay") {
    def text(
        took: Long,
        interval: Option[Long],
        held: Held = Held(windowMs = Some(10000)),
        before: Option[Filling] = None,
        state: Double = 940
    ) = {
      val slow = inState.copy(
        parts = Some(parts(state = state, work = 0)),
        nodes = Seq(nodes.head, nodes.last.copy(held = Some(held))),
        watermarks = Seq(SourceWatermark("rate", "ts", 10000, Some(0), holdsBack = true)),
        admission = Some(admission.copy(tookMs = took, intervalMs = interval)),
        before = before
      )
      // A delay of 4 s would do.
      answer(of(slow).query.copy(outOfOrder = Aged.records(Seq.fill(10000)(3000L): _*))).headline.text
    }
    val passes = "10 s behind its newest event, passes the end of their"
    assert(text(1000, Some(60000)).endsWith(
      s"$passes window of 10 s. It moves only with a batch, one every 1 min: a shorter trigger interval makes them younger."
    ))
    assert(text(30000, Some(10000)).endsWith(
      s"$passes window of 10 s. It moves only with a batch, one every 30 s: shorter batches make them younger."
    ))
    for (
      (held, or) <- Seq(Held(windowMs = Some(3600000)) -> "window", Held(gapMs = Some(3600000)) -> "gap")
    ) {
      assert(text(1000, Some(60000), held, state = 130000).endsWith(
        "one every 1 min: a shorter trigger interval makes them younger."
      ))
      assert(text(1000, Some(60000), held, state = 130001).endsWith(
        s"one every 1 min: a shorter trigger interval or $or makes them younger."
      ))
      assert(text(30000, None, held, state = 3600000).endsWith(
        s"one every 30 s: shorter batches or $or make them younger."
      ))
    }
    val enough = s"$passes window of 10 s: 4 s are enough for 99.99 % of records, and make them 6 s younger."
    assert(text(6000, None).endsWith(enough))
    assert(
      text(30000, None, before = Some(Filling(6000, Filling.Start, Nil, 1))).endsWith(enough),
      "one was long"
    )
    // Batches are further apart than the 6 s of which results would come earlier.
    assert(text(
      6001,
      None
    ).endsWith(s"$passes window of 10 s: a shorter delay makes them younger."))
  }

  test("in a join records wait for the other side, and no delay or window is to blame") {
    val joined = Aged.node("joined", "orders", "clicks")(940)
    val ends = Seq(Aged.node("orders")(0), Aged.node("clicks")(0), joined)
    val slow = inState.copy(
      parts = Some(parts(state = 940, work = 0).copy(end = "joined")),
      nodes = ends,
      watermarks = Seq(SourceWatermark("kafka[b]", "at", 3000, Some(1), holdsBack = true))
    )
    assert(of(slow, ends).headline.text ===
      "Records wait in state before joined, 940 ms of 1 s (94 %). They leave when a match comes from the other side, or when the " +
      "watermark of kafka[b], 3 s behind its newest event, passes them.")
  }

  test("an aggregation of a union waits for its watermark, and not for a match") {
    val united = Aged.node("totals", "orders", "clicks")(940).copy(held = Some(Held(windowMs = Some(60000))))
    val ends = Seq(Aged.node("orders")(0), Aged.node("clicks")(0), united)
    def text(newestMs: Long*) = of(
      inState.copy(
        parts = Some(parts(state = 940, work = 0).copy(end = "totals")),
        nodes = ends,
        watermarks = newestMs.zipWithIndex.map { case (newest, at) =>
          SourceWatermark(s"kafka[$at]", "at", 3000, Some(newest - 3000), holdsBack = newest == newestMs.min)
        }
      ),
      ends
    ).headline.text
    val passes =
      "Records wait in state before totals, 940 ms of 1 s (94 %). They leave when the watermark of kafka[0], 3 s behind its " +
        "newest event, passes the end of their window of 1 min"
    assert(text(600000, 600000) === s"$passes: a shorter delay makes them younger.")
    assert(text(600000, 603000) === s"$passes: a shorter delay makes them younger.")
    assert(text(
      600000,
      1200000
    ) === s"$passes. The events of kafka[0] are 10 min behind those of kafka[1]: look at who writes " +
      "them, and at what limits that source.")
  }
}
