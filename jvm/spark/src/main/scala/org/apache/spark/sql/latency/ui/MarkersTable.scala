package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.Markers
import io.sparklatency.answer.Readable
import io.sparklatency.figures.MarkerSnapshot
import io.sparklatency.figures.MarkersSnapshot

/**
 * How long latency markers take to each partition of each node, and to the commit: a sentence, and the histograms. Nothing where they
 * are off. Shows what it is given and reads no figures. Without state; made by a thread of the web server.
 */
private[ui] object MarkersTable {

  /** So a page of many partitions stays small: the slowest of all are shown. */
  private val Shown = 100

  def apply(markers: Option[MarkersSnapshot]): NodeSeq = markers.fold(NodeSeq.Empty) { markers =>
    val slowest = markers.of.sortBy(-_.latest.max.getOrElse(Long.MinValue)).take(Shown).toSet
    val left = markers.of.size - slowest.size
    val more = if (left > 0) s" ${Readable.count(left.toLong)} faster rows are left out." else ""
    <h4 id="markers">Markers</h4> ++ <p>{Markers.text(markers) + more}</p> ++
      (if (markers.of.isEmpty) NodeSeq.Empty
       else SortableTable("latency-markers", columns)(markers.of.filter(slowest)))
  }

  private val column = new Columns[MarkerSnapshot]

  private def subtask(
      name: String,
      help: String
  )(read: MarkerSnapshot => Option[Int]): Column[MarkerSnapshot] =
    column.count(name, help)(read(_).map(_.toLong))

  private val columns: Seq[Column[MarkerSnapshot]] = Seq(
    column.text(
      "Source",
      "source_id: the node where they were marked"
    )(_.key.source.mkString)(one =>
      one.key.source.fold[NodeSeq](Text(Readable.Unknown))(LatencyPage.shortened(_))
    ),
    subtask("Source subtask", "source_subtask_index: its partition")(_.key.sourceSubtask),
    column.text("Operator", "operator_id: the node that they passed, or the commit")(
      _.key.operator
    )(one => LatencyPage.shortened(one.key.operator)),
    subtask("Operator subtask", "operator_subtask_index: its partition")(_.key.operatorSubtask),
    column.count("Markers", "that came since the run began")(one =>
      Some(one.figures.total.count)
    ),
    column.count("Min", "the shortest time from the source, of the window or the last batch")(
      _.latest.min
    ),
    column.mean("Mean", "the mean of them")(_.latest.avg),
    column.count("p99", "99 % took at most this long")(_.latest.percentile(99)),
    column.count("Max", "the longest")(_.latest.max),
    column.text(
      "Of",
      "the window, or where no marker came within it the last batch that had one"
    )(
      _.isQuiet.toString
    )(one => Text(if (one.isQuiet) "last batch" else "window"))
  )
}
