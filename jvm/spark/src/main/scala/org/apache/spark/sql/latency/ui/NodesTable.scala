package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.answer.Readable
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import io.sparklatency.recording.LatencySummary

/**
 * The figures of every node. A column appears only if some node has a figure for it. Each node's histogram is read once for
 * its percentiles. Without state; made by a thread of the web server for each request.
 */
private[ui] object NodesTable {

  def apply(query: QuerySnapshot, path: LatencyPath, link: String => String): NodeSeq = {
    val rows = query.nodes.zip(path.nodes).map { case (node, record) => new Row(record, path, node.measures) }
    SortableTable(
      "latency-nodes",
      always(link) ++ whereAny.collect { case (has, shown) if rows.exists(has) => shown }
    )(rows)
  }

  private val column = new Columns[Row]

  private def always(link: String => String): Seq[Column[Row]] = Seq(
    column.node("id of the node, in the order of the plan; a click shows its history")(_.node.id)(link),
    column.mean(
      "Own time",
      "mean age here less that at the slowest node before; at a source, the age that records arrive with"
    )(
      _.own
    ),
    column.share(
      "Share",
      "own time as a part of the whole: the mean age at the end, or all own times where they are more"
    )(_.share),
    column.count("Records", "records that have passed since the query started")(row =>
      Some(row.total(Measure.E2ELatency).records)
    ),
    column.count("Min", "least age of a record, over the window")(_.latency.min),
    column.mean("Avg", "mean age")(_.latency.avg),
    column.count("p50", "median age")(_.percentiles(0)),
    column.count("p90", "age that 90 % of the records do not exceed")(_.percentiles(1)),
    column.count("p99", "age that 99 % of the records do not exceed")(_.percentiles(2)),
    column.count("Max", "greatest age")(_.latency.max)
  )

  private val whereAny: Seq[(Row => Boolean, Column[Row])] = Seq(
    ((row: Row) => row.node.timestamp.nonEmpty) ->
      column.plain("Timestamp", "column that says when a record happened")(_.timestamp),
    ((row: Row) => row.has(Measure.Commit)) ->
      column.count(
        "Commit p99",
        "age at the commit of the batch that 99 % of the records do not exceed"
      )(
        _.node(Measure.Commit).percentile(99)
      ),
    ((row: Row) => row.has(Measure.Staleness)) ->
      column.mean(
        "Staleness avg",
        "mean age of records when the operator takes them in"
      )(_.node(Measure.Staleness).avg),
    ((row: Row) => row.total(Measure.Lateness).records > 0) ->
      column.count(
        "Dropped late",
        "records that the operator dropped, behind its watermark of event time"
      )(_.counted(Measure.Lateness)),
    ((row: Row) => row.total(Measure.SystemTimeLateness).records > 0) ->
      column.count(
        "Dropped late by system time",
        "records that the operator dropped, behind its system-time watermark"
      )(_.counted(Measure.SystemTimeLateness)),
    ((row: Row) => row.total(Measure.E2ELatency).withoutTimestamp > 0) ->
      column.count("Without timestamp", "records not measured: no timestamp, or one before 1970")(row =>
        Some(row.total(Measure.E2ELatency).withoutTimestamp)
      ),
    ((row: Row) => row.total(Measure.E2ELatency).aheadOfClock > 0) ->
      column.count("Ahead of clock", "records with a timestamp in the future, measured as negative")(row =>
        Some(row.total(Measure.E2ELatency).aheadOfClock)
      )
  )

  /** Computes once what several columns need. */
  private final class Row(
      val node: NodeLatencies,
      path: LatencyPath,
      measures: Map[Measure, MeasureSnapshot]
  ) {
    val latency: LatencySummary = node(Measure.E2ELatency)
    val percentiles: Seq[Option[Long]] = latency.percentiles(Seq(50, 90, 99))
    val own: Option[Double] = path.own(node)
    val timestamp: String = node.timestamp.fold(Readable.Unknown)(by => Readable.name(by.column))
    val share: Option[Double] = path.share(own)

    def has(measure: Measure): Boolean = measures.contains(measure)
    def total(measure: Measure): LatencySummary = measures.getOrElse(measure, MeasureSnapshot.empty).total
    def counted(measure: Measure): Option[Long] = measures.get(measure).map(_.total.records)
  }
}
