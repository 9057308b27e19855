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
      val behind =
        if (ms < 0) s"${Readable.duration(-ms.toDouble)} ahead of the clock"
        else s"${Readable.duration(ms.toDouble)} behind the clock"
      if (query.atMs.nonEmpty) s"The watermark is $behind."
      else s"At the last commit the watermark was $behind."
    }

  /**
   * Which source the watermark waits for; none where there is no watermark, or nothing goes by it. One that is about where it should be
   * waits for none.
   */
  private[answer] def heldBack(query: QuerySnapshot): Option[String] =
    known(query).find(_.holdsBack).filter(_ => query.usesWatermark).map { held =>
      val advice = if (waitsForEvents(held)) s" ${remedy(held, query.watermarks)}" else ""
      if (held.watermarkMs.isEmpty) s"${hasNotMoved(held)}$advice"
      else if (isWellBehind(query, held))
        s"${text(query)} ${Readable.name(held.source)} holds it back.$advice"
      else text(query)
    }

  /**
   * That a query which runs waits for a source. A warning if nothing comes at all, and that not only between two triggers. If others are
   * ahead nobody knows whether the source is silent, or only behind with events that come. Where no batch ends for minutes no watermark
   * moves, whatever comes.
   */
  private[answer] def note(query: QuerySnapshot): Option[Note] = for {
    _ <- query.atMs
    watermarks = query.watermarks if query.usesWatermark && !query.hasNoEnd
    held <- known(query).find(watermark => watermark.holdsBack && waitsForEvents(watermark))
    lag <- query.watermarkLagMs(held) if isWellBehind(query, held)
    level <-
      if (hasStopped(query)) Some(Note.Warn)
      else Option.when(watermarks.exists(isAhead(query, _, held)))(Note.Info)
  } yield {
    val stands =
      s"${Readable.name(held.source)} holds the watermark back: ${Readable.duration(lag.toDouble)} behind the clock, " +
        s"with a delay of ${Readable.duration(held.delayMs.toDouble)}."
    val numbers = Seq("delayMs" -> Whole(held.delayMs), "lagMs" -> Whole(lag))
    Note("silent-source", level, s"$stands ${remedy(held, watermarks)}", numbers = numbers)
  }

  private def known(query: QuerySnapshot): Seq[SourceWatermark] =
    query.lastBatch.toSeq.flatMap(_.knownWatermarks)

  private def isWellBehind(query: QuerySnapshot, held: SourceWatermark): Boolean =
    query.watermarkLagMs(held).exists(_ > held.delayMs + WellPastMs)

  /** So much further back than it should be is a watermark that waits. */
  private[answer] val WellPastMs = 60000L

  /** By a minute; if the other was where it should be at the last commit, by the time of a few batches, in which only that one spoke. */
  private def isAhead(query: QuerySnapshot, other: SourceWatermark, held: SourceWatermark): Boolean = {
    val wasWell = query.lastBatch.flatMap(_.watermarkLagMs(other)).exists(_ <= other.delayMs + WellPastMs)
    val enough = query.usuallyMs.filter(_ => wasWell).fold(WellPastMs.toDouble)(Progress.Times * _)
    !other.isIdle && held.newestMs.exists(known =>
      other.newestMs.exists(_ - known > math.min(enough, WellPastMs.toDouble))
    )
  }

  /**
   * Records had come, and no more do: no batch with data is in progress, and by its own pace one would have been committed. A trigger that
   * asks its sources, over and over again, has found nothing yet.
   */
  private def hasStopped(query: QuerySnapshot): Boolean =
    query.isSilent && query.nodes.exists(_.lastLatency.count > 0) && !query.activity.exists(_.isAtWork) &&
      query.sinceCommitMs.exists(ms => ms > WellPastMs && query.usuallyMs.forall(ms > Progress.Times * _))

  /** Not by the clock, and not idle: then all are. */
  private def waitsForEvents(held: SourceWatermark): Boolean =
    held.kind == WatermarkKind.EventTime && !held.isIdle

  private def hasNotMoved(held: SourceWatermark): String =
    s"The watermark has not moved: no record has come from ${Readable.name(held.source)}."

  private def remedy(held: SourceWatermark, all: Seq[SourceWatermark]): String = {
    // Where none is ahead of it the others are silent, too, or the watermark goes by the one that is furthest.
    val isAlone = !all.exists(_.watermarkMs.exists(ms => held.watermarkMs.forall(_ < ms)))
    val others = if (isAlone) "" else "; an idle timeout lets the others go on"
    s"A system-time watermark on it moves on while ${Readable.name(held.source)} is silent$others."
  }
}
