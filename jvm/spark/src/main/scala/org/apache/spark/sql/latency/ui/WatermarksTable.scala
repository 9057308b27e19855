package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.Watermarks
import io.sparklatency.figures.Batch
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import org.apache.spark.ui.UIUtils

/**
 * The query's watermark, each source's watermark, and which source holds the query's back. A row for each `withWatermark`;
 * shows what it is given and reads no figures. Without state; made by a thread of the web server.
 */
private[ui] object WatermarksTable {

  def apply(query: QuerySnapshot): NodeSeq =
    <p>{Watermarks.text(query)}</p> ++ query.lastBatch.filter(_.watermarks.nonEmpty).fold(NodeSeq.Empty)(
      batch =>
        SortableTable("latency-watermarks", columns(batch))(batch.watermarks)
    )

  private val column = new Columns[SourceWatermark]

  private def columns(batch: Batch): Seq[Column[SourceWatermark]] = Seq(
    column.text("Source", "what the watermarked column comes from")(_.source)(w =>
      LatencyPage.shortened(w.source)
    ),
    column.text("Column", "the watermarked column")(_.column)(w =>
      LatencyPage.shortened(w.column)
    ),
    column.text(
      "Kind",
      "whether it goes by events or by the clock; a source that is idle holds nobody back"
    )(_.kind.name)(w =>
      Text(w.kind.name + w.idleSinceMs.fold("")(ms => s", idle since ${UIUtils.formatDate(ms)}"))
    ),
    column.count(
      "Delay",
      "as withWatermark was given it, or the lag of a system-time watermark"
    )(w => Some(w.delayMs)),
    column.time(
      "Watermark",
      "the greatest event time seen by this run, or the time of the clock, less the delay"
    )(_.watermarkMs),
    column.count(
      "Lag",
      "how far the watermark was behind the clock at the last commit"
    )(batch.watermarkLagMs(_)),
    column.text(
      "Holds back",
      "whether the query's watermark is this one"
    )(_.holdsBack.toString)(w =>
      Text(if (w.holdsBack) "yes" else "")
    )
  )
}
