package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.Readable
import io.sparklatency.answer.Work
import io.sparklatency.figures.NodePartitions
import io.sparklatency.figures.PartitionTimes

/**
 * What a node did in each partition of the last batch that had records, stage by stage: which executor ran it, when it ended, how long
 * it took. Only of nodes that are asked for, and of the slowest partitions, so a page stays small. Without state; made by a thread of
 * the web server.
 */
private[ui] object PartitionsTable {

  def apply(work: Option[Work], nodes: Seq[String]): NodeSeq = NodeSeq.fromSeq(for {
    node <- nodes
    work <- work.toSeq
    (of, place) <- work.times.stages.flatMap(_.node(node)).map(_.partitions).filter(_.count > 0).zipWithIndex
    shown <- partitions(node, of, s"latency-partitions-$place-${nodes.indexOf(node)}")
  } yield shown)

  private def partitions(node: String, of: NodePartitions, id: String): NodeSeq =
    <h4>Partitions of {LatencyPage.shortened(node)}</h4> ++ <p>{Work.text(of)}</p> ++
      SortableTable(id, columns)(of.slowest)

  private val column = new Columns[PartitionTimes]

  private val columns: Seq[Column[PartitionTimes]] = Seq(
    column.count("Partition", "its number")(one => Some(one.partition.toLong)),
    column.text("Executor", "that ran it")(_.executor)(one =>
      Text(Readable.name(one.executor))
    ),
    column.count("Records", "that passed the node in it")(one => Some(one.records)),
    column.mean(
      "Operator latency",
      "how long the operators between the node and the one before it were at work"
    )(_.latencyMs),
    column.mean(
      "Took",
      "for how long its task had run when the last row had passed the node"
    )(one => Some(one.tookMs)),
    column.mean("Ended", "when that was, after the first read of the batch")(one =>
      Some(one.ewtMs)
    )
  )
}
