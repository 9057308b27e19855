package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.figures.Admission
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** What another delay of a watermark would do. Times are in milliseconds since the newest event of the first batch. */
class WatermarkAdviceSuite extends AnyFunSuite {
  import Answered._

  private val Start = 1790000000000L
  private val owner = MarkOwner(NodeKey("orders", "source"), Some("id"), Some("run"))
  private val clock = new ManualClock(Start)

  /** Records came in, newer ones but for some. */
  private def records(all: Int, behind: (Int, Long)*): Seq[Long] =
    Seq.fill(all - behind.map(_._1).sum)(500L) ++ behind.flatMap { case (n, ms) => Seq.fill(n)(-ms) }

  private def watermark(delayMs: Long, newest: Long) =
    SourceWatermark("rate", "at", delayMs, Some(Start + newest - delayMs), holdsBack = true)

  /** A run of two batches: of one record, and of these. */
  private def run(
      times: Seq[Long],
      awaits: Boolean = true
  )(watermarks: Long => Seq[SourceWatermark]): QuerySnapshot = {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    commit(runs, 0, Seq(0), watermarks(0), awaits)
    commit(runs, 1, times, watermarks((0L +: times).max), awaits)
    runs.snapshot().head
  }

  /** A batch that is committed a second after its number. */
  private def commit(
      runs: LiveRuns,
      id: Long,
      times: Seq[Long],
      watermarks: Seq[SourceWatermark],
      awaits: Boolean = true
  ): Unit = {
    val at = Start + id * 1000 + 1000
    val summary = Aged.records(times.map(at - Start - _): _*)
    val reading =
      Reading(0, TaskAttempt(0, 0, id), id, 0, summary, LatencySummary.empty, Some(Ages(at, summary)))
    val mark =
      MarkReadings(
        "source",
        Measure.E2ELatency,
        0,
        Set.empty,
        Seq(reading),
        comesIn = true
      )
    runs.update(owner) { query =>
      val batch = query.batch(id)
      query.add(Seq(mark), batch, _ => None)
      batch.committed(at)
      batch.watermarks = watermarks
      batch.awaitsWatermark = awaits
      query.commit(id)(identity)
      ()
    }
  }

  private def advice(delayMs: Long, times: Seq[Long]): Option[Note] =
    notes(run(times)(newest => Seq(watermark(delayMs, newest))), "watermark-delay").headOption

  test("a delay that is longer than records need is told, with what a shorter one would do") {
    val Some(note) = advice(10000, records(10000, 2 -> 3000L)): @unchecked
    assert(note.text === "The watermark waits 10 s for late records, and 99.99 % of 10,000 came at most 3 s behind the newest event. " +
      "With 4 s, results would come 6 s earlier, and none of these would have been dropped.")
    assert(note.level === Note.Info)
    val numbers = note.numbers.toMap
    assert(numbers("delayMs") -> numbers("betterMs") === Whole(10000) -> Whole(4000))
  }

  test("the records that a shorter delay would drop are told") {
    val Some(note) = advice(10000, records(20000, 2 -> 9000L, 10 -> 2000L)): @unchecked
    assert(
      note.text.endsWith(
        "With 3 s, results would come 7 s earlier, and at most 2 of these would have been dropped."
      )
    )
  }

  test("a delay that many records exceed is told, with what a longer one would do") {
    assert(advice(1000, records(10000, 11 -> 3000L)).map(_.text) === Some(
      "The watermark waits 1 s for late records, and at least 11 of 10,000 came later. With 4 s, none of these would have been dropped, and " +
        "results would come 3 s later."
    ))
    assert(advice(1000, records(10000, 10 -> 3000L)) === None, "one in a thousand may")
    assert(advice(1000, records(10000, 11 -> 1200L)) === None, "it is not certain that they came later")
  }

  test("of old records no delay is advised that they may not keep") {
    // A bucket of the histogram of their ages, of 290 s, is 2 s wide.
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    commit(runs, 0, Seq(-288000), Seq(watermark(30000, -288000)))
    val times = Seq.fill(19990)(-287000L) ++ Seq.fill(10)(-292500L)
    commit(runs, 1, times, Seq(watermark(30000, -287000)))
    assert(notes(runs.snapshot().head, "watermark-delay").map(_.text) === Seq(
      "The watermark waits 30 s for late records, and 99.99 % of 20,000 came at most 4.5 s behind the newest event. " +
        "With 6 s, results would come 24 s earlier, and none of these would have been dropped."
    ))
  }

  test("a delay that is about right is not spoken of") {
    for (delay <- Seq(4000L, 5000L)) assert(advice(delay, records(10000, 2 -> 3000L)) === None)
    assert(advice(6000, records(10000, 2 -> 3000L)).exists(_.text.contains("With 4 s, ")))
    assert(advice(8000, records(10000, 2 -> 3900L)).exists(_.text.contains("With 5 s, ")), "a quarter more")
    assert(advice(1000, records(10000)) === None, "a second is the shortest that is advised")
  }

  test("a shorter delay is not spoken of where batches are as far apart as what it would gain") {
    val slow = run(records(10000, 2 -> 3000L))(newest => Seq(watermark(10000, newest)))
    def known(tookMs: Long, intervalMs: Option[Long]) = {
      val admission = Admission(0, 0, 0, 0, tookMs, intervalMs = intervalMs)
      val last = slow.lastBatch.map(_.copy(admission = Some(admission)))
      notes(slow.copy(lastBatch = last), "watermark-delay").size
    }
    assert(known(6000, None) -> known(6001, None) === 1 -> 0)
    assert(known(1000, Some(6000)) -> known(1000, Some(6001)) === 1 -> 0)
  }

  test("of few records no delay is advised") {
    assert(advice(10000, records(9999)) === None)
  }

  test(
    "no delay is advised where marks measure another time than that of the watermark, or there are several"
  ) {
    val times = records(10000)
    def known(watermarks: Long => Seq[SourceWatermark]) = run(times)(watermarks).outOfOrder.count
    assert(known(newest => Seq(watermark(10000, newest))) === 10000)
    assert(known(newest => Seq(watermark(10000, newest + 51))) === 0, "Spark has seen a newer one")
    assert(known(newest => Seq(watermark(10000, newest), watermark(10000, newest))) === 0)
    assert(known(_ => Nil) === 0)
  }

  test("no delay is advised where no result waits for the watermark") {
    def known(awaits: Boolean) =
      run(records(10000), awaits)(newest => Seq(watermark(10000, newest))).outOfOrder.count
    assert(known(awaits = true) === 10000)
    assert(known(awaits = false) === 0)
  }

  test("no delay is advised of records that are too old for the histogram to tell them apart") {
    def known(delayMs: Long, age: Long) = {
      val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
      for (id <- 0L to 1L) commit(runs, id, Seq(-age), Seq(watermark(delayMs, -age)))
      runs.snapshot().head.outOfOrder.count
    }
    assert(known(10000, 98000) === 1)
    assert(known(10000, 98001) === 0)
  }
}
