package io.sparklatency.answer

import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.WatermarkKind

/** Where a query's watermark stands: now if it runs, else at its last commit. */
object Watermarks {
  def text(query: QuerySnapshot): String =
    if (query.lastBatch.forall(_.watermarks.isEmpty)) "The query has no watermark."
    else query.watermarkLagMs.fold("The watermark has not moved yet.") { ms =>
      val behind = s"${Readable.duration(ms.toDouble)} behind the clock"
      if (query.atMs.nonEmpty) s"The watermark is $behind."
      else s"At the last commit the watermark was $behind."
    }

  /** Which source the watermark waits for; none where there is no watermark. */
  private[answer] def heldBack(query: QuerySnapshot): Option[String] =
    query.lastBatch.flatMap(_.watermarks.find(_.holdsBack)).map { held =>
      val source = Readable.name(held.source)
      val remedy = held.kind match {
        case WatermarkKind.EventTime => s" A system-time watermark on it moves on while $source is silent."
        case WatermarkKind.SystemTime => ""
      }
      if (held.watermarkMs.isEmpty) s"The watermark has not moved: no record has come from $source.$remedy"
      else s"${text(query)} $source holds it back.$remedy"
    }
}
