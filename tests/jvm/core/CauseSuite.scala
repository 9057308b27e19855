package io.sparklatency

import io.sparklatency.answer.Cause
import io.sparklatency.answer.Headline
import io.sparklatency.answer.Parts
import io.sparklatency.figures.Admission
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.NodeTimestamp
import io.sparklatency.figures.StageTimes
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

/** What makes records old, from the parts of their age: which part leads. What fills a batch is in FilledBatchSuite, what waits in state in StateWaitSuite. */
class CauseSuite extends AnyFunSuite with ExplainedBatches {

  test("where work leads, its longest step is the slowest") {
    assert(said(batch(parts(work = 940), times(40, rest = 10))) === ((
      "slowest-step",
      Some("scored"),
      "Slowest step: scored, 752 ms of 1 s (75 %). Make that faster, or give it more cores."
    )))
    assert(said(batch(parts(work = 940), times(10, rest = 40)))._3 ===
      "Slowest step: the stage of source and scored, 752 ms of 1 s (75 %). Make that faster, or give it more cores.")
  }

  test("work of which no step is known is told as it is, and how to see whose it is") {
    assert(said(batch(parts(work = 940), times(0))) === ((
      "slowest-step",
      None,
      "Work takes longest, 940 ms of 1 s (94 %). Mark another step to see whose it is."
    )))
  }

  test("the work at many steps is one thing, and of it the longest step is named") {
    def many(of: Double*) = {
      val ids = of.indices.map(i => s"n$i")
      val at = ids.zip(of).map { case (id, ms) => NodeTimes(id, Some(ms), ms, 0, "1") }
      times(0).copy(stages = Seq(StageTimes(Nil, 0, of.sum, 1, at, ids, 0)))
    }
    // Of ten steps six are told together, and take longer than the longest.
    assert(said(batch(parts(work = 10000), many(3000.0 +: Seq.fill(9)(780.0): _*))) === ((
      "slowest-step",
      Some("n0"),
      "Slowest step: n0, 3 s of 10 s (30 %). Make that faster, or give it more cores."
    )))
    val all = batch(parts(before = 4000, work = 10000), many(1900.0 +: Seq.fill(9)(900.0): _*))
    assert(said(all) === ((
      "slowest-step",
      Some("n0"),
      "Work takes longest, 10 s of 14 s (71 %). Slowest step: n0, 1.9 s (14 %). Make that faster, or give it more cores."
    )))
    val told = of(all)
    assert(math.abs(told.parts.of.filter(_.kinds == Seq(Parts.Work)).map(_.ms).sum - 10000) < 1e-6)
    assert(told.headline.own.map(math.round) === Some(1900))
  }

  test("work between stages with a node is no node's, and it is said how to see whose") {
    val unnamed =
      "while tasks start, in stages without one, in foreachBatch itself, or where that reads its rows again. Persist what " +
        "foreachBatch reads twice, or mark a step there to see whose it is."
    val gap = batch(parts(before = 20000, work = 43000, commit = 10), apart)
    assert(said(gap) === ((
      "slowest-step",
      None,
      s"Most time passes between stages with a node, 41 s of 1.1 min (65 %): $unnamed"
    )))
    assert(of(gap).headline.short === Some("work (65 %)"))
    assert(of(gap).parts.of.map(_.name).contains("work between stages with a node"))
    assert(said(batch(parts(before = 42000, work = 43000), apart))._3 ===
      s"Work takes longest, 43 s of 1.4 min (51 %). Most of it passes between stages with a node, 41 s (48 %): $unnamed")
  }

  test("what no step is to blame for names none") {
    assert(said(batch(parts(old = 940))) === ((
      "arrived-old",
      None,
      "Records arrive old: 940 ms of 1 s (94 %). They were not there to be read before, so no step of the query is the cause: look at " +
        "who writes them, and at their clock."
    )))
    val stamped =
      batch(parts(old = 940)).copy(nodes = nodes.map(_.copy(timestamp = Some(NodeTimestamp("event_time")))))
    assert(said(stamped)._3.startsWith("Records arrive old: 940 ms of 1 s (94 %), by event_time. They"))
    val first = stamped.copy(admission = Some(Admission.first(admission.startMs, admission.tookMs)))
    assert(said(first) === ((
      "arrived-old",
      None,
      "Records are older than the run: 940 ms of 1 s (94 %), by event_time. This is its first batch, so they may have waited for the run " +
        "to begin: no step of the query is the cause."
    )))
    val next = stamped.copy(admission = Some(admission.copy(fromFirst = true)))
    assert(said(next)._3 ===
      "Records are older than the run: 940 ms of 1 s (94 %), by event_time. maxOffsetsPerTrigger has left some behind since its first " +
      "batch, so they may have waited for the run to begin: no step of the query is the cause.")
    val later = stamped.copy(admission = Some(admission.copy(limit = None, fromFirst = true)))
    assert(said(later)._3 ===
      "Records are older than the run: 940 ms of 1 s (94 %), by event_time. They came in with its first batches, so they may have waited " +
      "for the run to begin: no step of the query is the cause.")
    // Twenty years and more: from timestamps near 1970.
    val odd = "Were seconds taken for milliseconds, or zeros for a time? timestamp_seconds reads seconds."
    for (one <- Seq(stamped, first)) {
      assert(said(one.copy(parts = Some(parts(old = 1.79e12))))._3.endsWith(s". $odd"))
      assert(!said(one.copy(parts = Some(parts(old = 6e11))))._3.contains(odd))
    }
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

  test("where records are further ahead of the clock than all took, no step is to blame") {
    val ahead = batch(parts(old = -32400000))
    assert(said(ahead) === ((
      "arrived-old",
      None,
      "Records are ahead of the clock, by 9 h on average, so nobody knows how long they waited: look at who writes them, and at their " +
        "clock. Is the time zone of its timestamp right?"
    )))
    val headline = of(ahead).headline
    assert((headline.own, headline.share, headline.short) === ((Some(-32400000), None, None)))
    // All else took 60 ms.
    assert(said(batch(parts(old = -61)))._1 === "arrived-old")
    assert(said(batch(parts(old = -59)))._1 !== "arrived-old")
  }

  test("where a source waits for more records, no step is to blame, and neither is who writes them") {
    val few = batch(parts(backlog = 940)).copy(admission =
      Some(admission.copy(limit = Some("minOffsetsPerTrigger")))
    )
    assert(said(few) === ((
      "backlog",
      None,
      "Records wait in the backlog, 940 ms of 1 s (94 %): minOffsetsPerTrigger waits for more of them. Lower it, or maxTriggerDelay."
    )))
  }

  test("a backlog names the limit, and the step that fills the batch") {
    assert(said(withoutInterval(batch(parts(backlog = 940)))) === ((
      "backlog",
      Some("scored"),
      "Records wait in the backlog, 940 ms of 1 s (94 %): maxOffsetsPerTrigger admits no more. A batch takes 46 s, 43 s of it at " +
        "scored. Raise the limit, or make the batch faster."
    )))
  }

  test("where the trigger waits longer than batches take, a backlog names the limit and the interval alone") {
    assert(said(batch(parts(backlog = 940))) === ((
      "backlog",
      None,
      "Records wait in the backlog, 940 ms of 1 s (94 %): maxOffsetsPerTrigger admits no more, and a batch comes every 1 min. Raise the " +
        "limit, or shorten the interval."
    )))
    val isLong = batch(parts(backlog = 940)).copy(admission = Some(admission.copy(tookMs = 60000)))
    assert(said(isLong)._3.endsWith("Raise the limit, or make the batch faster."))
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

  test("a slow commit names the last node") {
    assert(said(batch(parts(commit = 940))) ===
      ((
        "commit",
        Some("scored"),
        "What comes after scored takes 940 ms of 1 s (94 %): the sink, and whatever stands before it without a node. Make that faster."
      )))
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
    ) === ((
      Headline.SlowestStep,
      "Slowest step: before source, 100 ms of 200 ms (50 %). Records arrive old, or wait to be read: look at who writes them, and at when a batch reads them."
    )))
  }
}
