package io.sparklatency

import io.sparklatency.answer.Watermarks
import io.sparklatency.figures.Batch
import io.sparklatency.figures.SourceWatermark
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
    assert(said(Some(batch(None, orders))) === "The watermark has not moved yet.")
    for (none <- Seq(None, Some(batch(None)))) assert(said(none) === "The query has no watermark.")
  }

  test("while the query runs the clock goes on, and the watermark falls behind") {
    val query = Answered.query().copy(lastBatch = Some(batch(Some(75000), orders)), atMs = Some(195000))
    assert(query.watermarkLagMs === Some(120000))
    assert(Watermarks.text(query) === "The watermark is 2 min behind the clock.")
  }
}
