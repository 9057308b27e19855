package io.sparklatency.answer

import io.sparklatency.figures.Batch

/** Where a query's watermark stands. */
object Watermarks {

  /** @param batch the last one */
  def text(batch: Option[Batch]): String = batch.filter(_.watermarks.nonEmpty) match {
    case None => "The query has no watermark."
    case Some(batch) => batch.watermarkLagMs.fold("The watermark has not moved yet.")(ms =>
        s"At the last commit the watermark was ${Readable.duration(ms.toDouble)} behind the clock."
      )
  }
}
