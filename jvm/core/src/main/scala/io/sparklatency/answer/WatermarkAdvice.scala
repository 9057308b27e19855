package io.sparklatency.answer

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.WatermarkKind

/**
 * What another delay of the watermark would do, by how far records came behind the newest event since the query started.
 *
 * @param delayMs   what `withWatermark` was given
 * @param betterMs  what would do
 * @param records   that were looked at
 * @param behindMs  how far [[WatermarkAdvice.Percent]] of them came behind at most
 * @param late      how many came further behind than the delay, of which that is certain
 * @param wouldBe   how many than the better one, at most
 */
private[answer] final case class WatermarkAdvice(
    delayMs: Long,
    betterMs: Long,
    records: Long,
    behindMs: Long,
    late: Long,
    wouldBe: Long
) {
  def isShorter: Boolean = betterMs < delayMs

  def earlier: String = Readable.duration((delayMs - betterMs).abs.toDouble)
  def better: String = Readable.duration(betterMs.toDouble)

  /** That many at most: a window drops a record only when all of the window is behind the watermark. */
  def note: Note = {
    val waits = s"The watermark waits ${Readable.duration(delayMs.toDouble)} for late records"
    val all = Readable.count(records)
    val fewer = if (wouldBe == 0) "none" else s"at most ${Readable.count(wouldBe)}"
    val text =
      if (isShorter)
        s"$waits, and ${WatermarkAdvice.Percent} % of $all came at most ${Readable.duration(behindMs.toDouble)} behind the newest " +
          s"event. With $better, results would come $earlier earlier, and $fewer of these would have been dropped."
      else
        s"$waits, and at least ${Readable.count(late)} of $all came later. With $better, $fewer of these would " +
          s"have been dropped, and results would come $earlier later."
    val numbers =
      Seq("delayMs" -> delayMs, "betterMs" -> betterMs, "records" -> records, "behindMs" -> behindMs)
    Note(
      "watermark-delay",
      Note.Info,
      text,
      numbers = (numbers ++ Seq("late" -> late, "wouldBe" -> wouldBe)).map { case (name, n) =>
        name -> Whole(n)
      }
    )
  }
}

private[answer] object WatermarkAdvice {

  /** So many records are to be in time. */
  val Percent = 99.99

  /** Of fewer records so high a percentile says nothing. */
  private val Enough = 10000

  /** None where the delay is about right, and where there is nothing to tell by. */
  def of(query: QuerySnapshot): Option[WatermarkAdvice] = for {
    batch <- query.lastBatch
    watermark <- Option.when(batch.watermarks.size == 1)(batch.watermarks.head)
    if watermark.kind == WatermarkKind.EventTime // how far records come behind the clock is another figure
    records = query.outOfOrder.count if records >= Enough
    behind <- query.outOfOrder.percentile(Percent)
    better <- delays.find(_ >= behind * Reserve)
    delay = watermark.delayMs
    // What may not have come later is not counted against the delay.
    late = later(query, (delay.max(1000) * Certain).toLong)
    wouldBe = later(query, better)
    isMuchLess = better <= delay * MuchLess && isSoonSeen(batch, delay - better)
    if isMuchLess || (better > delay && late > records * Few)
  } yield WatermarkAdvice(delay, better, records, behind.max(0), late, wouldBe)

  /** A watermark moves only with a batch: what makes less of a difference than these are apart may make none. */
  private def isSoonSeen(batch: Batch, ms: Long): Boolean = Cadence.of(batch).forall(_.ms <= ms)

  private def later(query: QuerySnapshot, delayMs: Long): Long =
    if (query.outOfOrder.max.forall(_ <= delayMs)) 0
    else query.outOfOrder.count - query.outOfOrder.countsUpTo(Seq(delayMs)).sum

  /**
   * How much further behind a record that is later than the delay may seem: ages are known within 2 %, and only batches count whose
   * youngest record is at most ten times as old as the delay.
   */
  private val Certain = 1.25

  /** How much longer a delay is to be than the records so far have needed. */
  private val Reserve = 1.25

  /** Less is not worth a change. */
  private val MuchLess = 0.7

  /** What part of the records may come later than the delay. */
  private val Few = 0.001

  /** Round ones, in milliseconds. */
  private val delays: Seq[Long] = {
    def of(unit: Long, numbers: Int*) = numbers.map(_ * unit)
    of(1000, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 50) ++
      of(60000, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 50) ++ of(3600000, 1, 2, 3, 4, 6, 8, 12, 18, 24)
  }
}
