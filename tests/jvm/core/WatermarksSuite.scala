package io.sparklatency

import io.sparklatency.answer.Watermarks
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.WatermarkKind
import org.scalatest.funsuite.AnyFunSuite

/** How far watermarks are behind the clock, and what is said of it. */
class WatermarksSuite extends AnyFunSuite {
  private val orders = SourceWatermark("kafka[orders]", "placed", 10000, Some(80000), holdsBack = true)
  private val clicks = SourceWatermark("kafka[clicks]", "clicked", 10000, None, holdsBack = false)

  private def batch(watermarkMs: Option[Long], watermarks: SourceWatermark*) =
    Batch("q", None, None, 0, 90000, 92500, 1, Map.empty, watermarkMs, watermarks, 0, Nil)

  test("each watermark is behind the clock by its own time, at the commit") {
    val committed = batch(Some(75000), orders, clicks)
    assert(committed.watermarkLagMs === Some(17500))
    assert(committed.watermarks.map(committed.watermarkLagMs(_)) === Seq(Some(12500), None))
  }

  test("it is said how far the query's is behind, or that it has not moved, or that there is none") {
    def said(batch: Option[Batch], atMs: Option[Long] = None) =
      Watermarks.text(Answered.query().copy(lastBatch = batch, atMs = atMs))
    assert(said(Some(batch(
      Some(75000),
      orders
    ))) === "At the last commit the watermark was 18 s behind the clock.")
    assert(said(Some(batch(Some(105000), orders)), atMs = Some(100000)) ===
      "The watermark is 5 s ahead of the clock.")
    assert(said(Some(batch(None, orders))) === "The watermark has not moved yet.")
    assert(said(Some(batch(None))) === "The query has no watermark.")
    assert(said(None) === "No batch with a marked node has told of a watermark yet.")
  }

  private val sink = Aged.node("sink")(100)

  /** At 200000, of a query that has figures at its end. */
  private def silentSource(query: QuerySnapshot, watermarks: SourceWatermark*): Seq[(String, String)] =
    silentSourceAt(Some(75000), query, watermarks: _*)

  private def silentSourceAt(
      watermarkMs: Option[Long],
      query: QuerySnapshot,
      watermarks: SourceWatermark*
  ): Seq[(String, String)] =
    Answered.notes(
      query.copy(lastBatch = Some(batch(watermarkMs, watermarks: _*)), atMs = Some(200000)),
      "silent-source"
    ).map(note => (note.level.name, note.text))

  private val remedy =
    "A system-time watermark on it moves on while kafka[orders] is silent; an idle timeout lets the others go on."

  test("of a silent source that holds others back it is said, whatever the headline says") {
    assert(silentSource(Answered.query(sink), orders, clicks.copy(watermarkMs = Some(180000))) === Seq(
      "info" -> s"kafka[orders] holds the watermark back: 2 min behind the clock, with a delay of 10 s. $remedy"
    ))
  }

  test("of one without a record in this run it is said by the query's watermark, which a restart keeps") {
    val (silent, ahead) = (orders.copy(watermarkMs = None), clicks.copy(watermarkMs = Some(180000)))
    assert(silentSourceAt(Some(75000), Answered.query(sink), silent, ahead) === Seq(
      "info" -> s"kafka[orders] holds the watermark back: 2.1 min behind the clock, with a delay of 10 s. $remedy"
    ))
    assert(silentSourceAt(Some(130000), Answered.query(sink), silent, ahead) === Nil) // 60 s beyond the delay
    assert(silentSourceAt(None, Answered.query(sink), silent, ahead) === Nil)
    // Of a silent query it is a warning, whatever others have had.
    assert(silentSourceAt(Some(75000), Answered.silent(sink), silent).map(_._1) === Seq("warn"))
  }

  test("it is not said where nothing goes by the watermark") {
    def said(usesWatermark: Boolean) = {
      val last = batch(Some(75000), orders).copy(usesWatermark = usesWatermark)
      Answered.notes(
        Answered.silent(sink).copy(lastBatch = Some(last), atMs = Some(200000)),
        "silent-source"
      ).size
    }
    assert(said(usesWatermark = true) -> said(usesWatermark = false) === 1 -> 0)
  }

  test("it is said as soon as a source is a minute behind what it should be, and another is not") {
    // At the commit, at 92500, the other was 10 s behind, and this one 52.5 s. Since then nothing came for 27.5 s.
    val (held, other) =
      (orders.copy(watermarkMs = Some(40000)), clicks.copy(watermarkMs = Some(82500)))
    def said(
        usuallyMs: Option[Double] = Some(2000.0),
        atMs: Long = 120000,
        held: SourceWatermark = held,
        other: SourceWatermark = other
    ): Seq[String] = Answered.notes(
      Answered.query(sink).copy(
        lastBatch = Some(batch(held.watermarkMs, held, other)),
        usuallyMs = usuallyMs,
        atMs = Some(atMs)
      ),
      "silent-source"
    ).map(_.level.name)
    assert(said() === Seq("info"))
    assert(said(atMs = 110000) === Nil) // 60 s beyond the delay
    assert(said(atMs = 110001) === Seq("info"))
    // Of a batch every 8.5 s the other had no more than five.
    assert(said(usuallyMs = Some(8499)) === Seq("info"))
    assert(said(usuallyMs = Some(8500)) === Nil)
    assert(said(usuallyMs = None) === Nil)
    // The events of both are old: nobody knows which is silent.
    def old(source: SourceWatermark, ms: Long) = source.copy(watermarkMs = source.watermarkMs.map(_ - ms))
    assert(said(held = old(held, 60000), other = old(other, 60000)) === Seq("info"))
    assert(said(held = old(held, 60001), other = old(other, 60001)) === Nil)
    assert(said(other = other.copy(idleSinceMs = Some(1))) === Nil)
  }

  test("of the only source it is said when no record comes at all") {
    assert(silentSource(Answered.silent(sink), orders) === Seq("warn" ->
      ("kafka[orders] holds the watermark back: 2 min behind the clock, with a delay of 10 s. " +
        "A system-time watermark on it moves on while kafka[orders] is silent.")))
    assert(silentSource(Answered.query(sink), orders) === Nil) // its events are old, and come
    assert(silentSource(
      Answered.silent(sink),
      orders.copy(watermarkMs = Some(130000))
    ) === Nil) // 60 s beyond the delay
    assert(silentSource(Answered.silent(sink), orders.copy(watermarkMs = Some(129999))).size === 1)
  }

  test("where no other source is ahead, an idle timeout is no remedy") {
    def said(other: Long) =
      silentSource(Answered.silent(sink), orders, clicks.copy(watermarkMs = Some(other))).map(_._2)
    assert(said(80001).map(_.endsWith("lets the others go on.")) === Seq(true))
    // Both are silent, or the watermark goes by the source that is furthest.
    for (other <- Seq(80000L, 70000L))
      assert(said(other).map(_.endsWith("while kafka[orders] is silent.")) === Seq(true))
  }

  test("it is not said between two triggers, nor while a batch runs") {
    def said(usuallyMs: Long, sinceMs: Option[Long], hasData: Boolean = true) = silentSource(
      Answered.silent(sink).copy(
        usuallyMs = Some(usuallyMs.toDouble),
        activity = Some(Activity(1, "", sinceMs, hasData))
      ),
      orders
    ).size
    assert(said(usuallyMs = 21499, sinceMs = None) === 1) // the last commit was 107.5 s ago
    assert(said(usuallyMs = 21500, sinceMs = None) === 0)
    assert(said(usuallyMs = 1000, sinceMs = Some(199000)) === 0)
    // A trigger asks its sources again and again, and finds nothing.
    assert(said(usuallyMs = 1000, sinceMs = Some(4000), hasData = false) === 1)
  }

  test("it is not said of the clock, of an idle source, of old events, and of a run that has ended") {
    val ahead = clicks.copy(watermarkMs = Some(180000))
    val query = Answered.query(sink)
    assert(silentSource(query, orders.copy(kind = WatermarkKind.SystemTime), ahead) === Nil)
    assert(silentSource(query, orders.copy(idleSinceMs = Some(1)), ahead) === Nil)
    assert(silentSource(query, orders, ahead.copy(watermarkMs = Some(140000))) === Nil) // both are behind
    assert(silentSource(query, orders, ahead.copy(watermarkMs = Some(140001))).size === 1)
    val ended = Answered.silent(sink).copy(lastBatch = Some(batch(Some(75000), orders)))
    assert(Answered.notes(ended, "silent-source") === Nil)
  }

  test("those of one source, column and kind are shown as the one that holds back") {
    val query = Answered.query().copy(
      lastBatch =
        Some(batch(Some(75000), orders.copy(watermarkMs = Some(85000), holdsBack = false), clicks, orders)),
      atMs = Some(200000)
    )
    assert(query.watermarksByKey === Seq(orders, clicks))
    val idle = orders.copy(watermarkMs = Some(1), idleSinceMs = Some(1), holdsBack = false)
    assert(query.copy(lastBatch = Some(batch(Some(75000), idle, orders))).watermarksByKey === Seq(orders))
    assert(query.watermarksByKey.map(query.watermarkLagMs(_)) === Seq(Some(120000), None))
    assert(query.idleMs(orders.copy(idleSinceMs = Some(150000))) === Some(50000))
  }

  test("while the query runs the clock goes on, and the watermark falls behind") {
    val query = Answered.query().copy(lastBatch = Some(batch(Some(75000), orders)), atMs = Some(195000))
    assert(query.watermarkLagMs === Some(120000))
    assert(Watermarks.text(query) === "The watermark is 2 min behind the clock.")
  }
}
