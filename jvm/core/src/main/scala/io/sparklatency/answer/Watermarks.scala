package io.sparklatency.answer

import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.WatermarkKind

/** Where a query's watermark stands: now if it runs, else at its last commit. */
object Watermarks {
  def text(query: QuerySnapshot): String =
    if (query.lastBatch.isEmpty) "No batch with a marked node has told of a watermark yet."
    else if (query.lastBatch.forall(_.watermarks.isEmpty)) "The query has no watermark."
    else query.watermarkLagMs.fold("The watermark has not moved yet.") { ms =>
      val behind = s"${Readable.duration(ms.toDouble)} behind the clock"
      if (query.atMs.nonEmpty) s"The watermark is $behind."
      else s"At the last commit the watermark was $behind."
    }

  /** Which source the watermark waits for; none where there is no watermark. */
  private[answer] def heldBack(query: QuerySnapshot): Option[String] = {
    val watermarks = query.lastBatch.toSeq.flatMap(_.watermarks)
    watermarks.find(_.holdsBack).map { held =>
      val advice = if (waitsForEvents(held)) s" ${remedy(held, watermarks)}" else ""
      if (held.watermarkMs.isEmpty) s"${hasNotMoved(held)}$advice"
      else s"${text(query)} ${Readable.name(held.source)} holds it back.$advice"
    }
  }

  /**
   * That a source is silent and the query waits for it. Only while it runs; not of a query whose records merely are old: then events
   * come, and no other source is ahead.
   */
  private[answer] def note(query: QuerySnapshot): Option[Note] = for {
    _ <- query.atMs
    watermarks = query.lastBatch.toSeq.flatMap(_.watermarks)
    held <- watermarks.find(watermark => watermark.holdsBack && waitsForEvents(watermark))
    if isSilent(query, held, watermarks)
  } yield {
    val lag = query.watermarkLagMs(held)
    val stands = lag.fold(hasNotMoved(held)) { ms =>
      s"${Readable.name(held.source)} holds the watermark back: ${Readable.duration(ms.toDouble)} behind the clock, with a delay of " +
        s"${Readable.duration(held.delayMs.toDouble)}."
    }
    val numbers = Seq("delayMs" -> Whole(held.delayMs)) ++ lag.map("lagMs" -> Whole(_))
    Note("silent-source", Note.Warn, s"$stands ${remedy(held, watermarks)}", numbers = numbers)
  }

  /** So much further back than it should be is a watermark that waits. */
  private val WellPastMs = 60000L

  private def isSilent(
      query: QuerySnapshot,
      held: SourceWatermark,
      watermarks: Seq[SourceWatermark]
  ): Boolean = {
    val isFarBack = query.watermarkLagMs(held).forall(_ > held.delayMs + WellPastMs)
    val goesByAge = query.nodes.exists(_.lastLatency.count > 0)
    def othersAreAhead = watermarks.exists(other =>
      !other.isIdle && other.newestMs.exists(_ > held.newestMs.getOrElse(0L) + WellPastMs)
    )
    isFarBack && (othersAreAhead || goesByAge && query.isSilent && held.watermarkMs.nonEmpty)
  }

  /** Not by the clock, and not idle: then all are. */
  private def waitsForEvents(held: SourceWatermark): Boolean =
    held.kind == WatermarkKind.EventTime && !held.isIdle

  private def hasNotMoved(held: SourceWatermark): String =
    s"The watermark has not moved: no record has come from ${Readable.name(held.source)}."

  private def remedy(held: SourceWatermark, all: Seq[SourceWatermark]): String = {
    val others = if (all.size == 1) "" else "; an idle timeout lets the others go on"
    s"A system-time watermark on it moves on while ${Readable.name(held.source)} is silent$others."
  }
}
