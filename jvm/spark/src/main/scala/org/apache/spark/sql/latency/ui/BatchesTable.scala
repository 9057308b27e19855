package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import io.sparklatency.path.LatencyPath
import org.apache.spark.sql.latency.history.KeptBatches
import org.apache.spark.sql.latency.history.MadeOfBatch

/**
 * The last batches, one in each row. A row costs two percentiles of the end of its batch, and stays with it. Without state; made by a
 * thread of the web server.
 */
private[ui] object BatchesTable {

  /** @param link what the address of an execution's page begins with, where there is one */
  def apply(kept: KeptBatches, limit: Int, link: Option[String]): NodeSeq = {
    val shown = columns(execution => link.map(_ + execution))
    val rows = kept.lines(limit, Listed(link))(batch => SortableTable.row(shown, new Row(batch)))
    SortableTable.of("latency-batches", shown, rows)
  }

  private final case class Listed(link: Option[String]) extends MadeOfBatch.Of[String]

  private val column = new Columns[Row]

  private def columns(link: Long => Option[String]): Seq[Column[Row]] = Seq(
    column.linked(
      "Batch",
      "its id, or that of the execution outside streaming; a click shows its plan, and from there its jobs"
    )(_.batch.batch)(_.batch.execution.flatMap(link)),
    column.time("Committed", "when its results could be seen")(row => Some(row.batch.committedMs)),
    column.count("Rows", "rows that it read")(row => Some(row.batch.inputRows)),
    column.count("Duration", "from its trigger to its commit")(row =>
      Some(row.batch.committedMs - row.batch.startMs)
    ),
    column.count(
      "p99",
      "99th percentile of the age of records at the end of the query"
    )(_.p99(Measure.E2ELatency)),
    column.count("Commit p99", "the same when the batch was committed")(_.p99(Measure.Commit))
  )

  /** Finds the end of a batch once, though two columns need it. */
  private final class Row(val batch: Batch) {
    private val path = new LatencyPath(batch.nodes)
    def p99(measure: Measure): Option[Long] = path.atEnd(measure).percentile(99)
  }
}
