package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.BatchRecord
import io.sparklatency.Readable
import io.sparklatency.SourceWatermark
import org.apache.spark.ui.UIUtils

/** Where the query's watermark stands, and which source holds it back. */
private[ui] object WatermarksTable {

  def apply(batch: Option[BatchRecord]): NodeSeq = batch.filter(_.watermarks.nonEmpty) match {
    case None => <p>The query has no watermark.</p>
    case Some(batch) => lag(batch) ++ SortableTable("latency-watermarks", columns)(batch.watermarks)
  }

  private def lag(batch: BatchRecord): NodeSeq = {
    val behind = batch.watermarkLagMs.map(_.toDouble)
    <p>{
      behind.fold("The watermark has not moved yet.")(ms =>
        s"At the last commit the watermark was ${Readable.duration(ms)} behind the clock."
      )
    }</p>
  }

  private val columns: Seq[Column[SourceWatermark]] = Seq(
    Column.text[SourceWatermark]("Source", "what the watermarked column comes from")(_.source)(w =>
      LatencyPage.shortened(w.source)
    ),
    Column.text[SourceWatermark]("Column", "the watermarked column")(_.column)(w =>
      LatencyPage.shortened(w.column)
    ),
    Column.exact[SourceWatermark]("Delay", "as withWatermark was given it")(w => Some(w.delayMs)),
    Column.text[SourceWatermark]("Watermark", "the greatest event time seen by this run, less the delay")(
      _.watermarkMs.fold("")(ms => f"$ms%019d")
    )(w => Text(w.watermarkMs.fold(Readable.Unknown)(UIUtils.formatDate))),
    Column.text[SourceWatermark](
      "Holds back",
      "whether the query's watermark is this one"
    )(_.holdsBack.toString)(w =>
      Text(if (w.holdsBack) "yes" else "")
    )
  )
}
