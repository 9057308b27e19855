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
  private[answer] def heldBack(query: QuerySnapshot): Option[String] = {
    val watermarks = query.lastBatch.toSeq.flatMap(_.watermarks)
    watermarks.find(_.holdsBack).map { held =>
      val source = Readable.name(held.source)
      val others = if (watermarks.size == 1) "" else "; an idle timeout lets the others go on"
      val remedy = held.kind match {
        case WatermarkKind.EventTime if !held.isIdle => // else all are
          s" A system-time watermark on it moves on while $source is silent$others."
        case _ => ""
      }
      if (held.watermarkMs.isEmpty) s"The watermark has not moved: no record has come from $source.$remedy"
      else s"${text(query)} $source holds it back.$remedy"
    }
  }
}
