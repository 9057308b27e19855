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
      always(link) ++ whereAny.collect { case (has, column) if rows.exists(has) => column }
    )(rows)
  }

  private def always(link: String => String): Seq[Column[Row]] = Seq(
    Column.node[Row]("id of the node, in the order of the plan; a click shows its history")(_.node.id)(link),
    Column.mean[Row](
      "Own time",
      "mean age here less that at the slowest node before; at a source, the age that records arrive with"
    )(
      _.own
    ),
    Column.share[Row](
      "Share",
      "own time as a part of the whole: the mean age at the end, or all own times where they are more"
    )(_.share),
    Column.count[Row]("Records", "records that have passed since the query started")(row =>
      Some(row.total(Measure.E2ELatency).records)
    ),
    Column.count[Row]("Min", "least age of a record, over the window")(_.latency.min),
    Column.mean[Row]("Avg", "mean age")(_.latency.avg),
    Column.count[Row]("p50", "median age")(_.percentiles(0)),
    Column.count[Row]("p90", "age that 90 % of the records do not exceed")(_.percentiles(1)),
    Column.count[Row]("p99", "age that 99 % of the records do not exceed")(_.percentiles(2)),
    Column.count[Row]("Max", "greatest age")(_.latency.max)
  )

  private val whereAny: Seq[(Row => Boolean, Column[Row])] = Seq(
    ((row: Row) => row.node.timestamp.nonEmpty) ->
      Column.plain[Row]("Timestamp", "column that says when a record happened")(_.timestamp),
    ((row: Row) => row.has(Measure.Commit)) ->
      Column.count[Row](
        "Commit p99",
        "age at the commit of the batch that 99 % of the records do not exceed"
      )(
        _.node(Measure.Commit).percentile(99)
      ),
    ((row: Row) => row.has(Measure.Staleness)) ->
      Column.mean[Row](
        "Staleness avg",
        "mean age of records when the operator takes them in"
      )(_.node(Measure.Staleness).avg),
    ((row: Row) => row.total(Measure.Lateness).records > 0) ->
      Column.count[Row](
        "Dropped late",
        "records that the operator dropped, behind its watermark of event time"
      )(_.counted(Measure.Lateness)),
    ((row: Row) => row.total(Measure.SystemTimeLateness).records > 0) ->
      Column.count[Row](
        "Dropped late by system time",
        "records that the operator dropped, behind its system-time watermark"
      )(_.counted(Measure.SystemTimeLateness)),
    ((row: Row) => row.total(Measure.E2ELatency).withoutTimestamp > 0) ->
      Column.count[Row]("Without timestamp", "records not measured: no timestamp, or one before 1970")(row =>
        Some(row.total(Measure.E2ELatency).withoutTimestamp)
      ),
    ((row: Row) => row.total(Measure.E2ELatency).aheadOfClock > 0) ->
      Column.count[Row]("Ahead of clock", "records with a timestamp in the future, measured as negative")(
        row =>
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
