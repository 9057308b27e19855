package org.apache.spark.sql.latency

import scala.collection.mutable

import io.sparklatency.Ages
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.NodeRecord
import io.sparklatency.SourceWatermark

/** What one batch of a query has recorded so far. It is complete when its results are committed. Not thread-safe. */
private[latency] final class BatchFigures(val id: Long) {
  private val nodes = mutable.LinkedHashMap.empty[String, NodeRecord]
  private var ages = Seq.empty[(String, Ages)]
  private var committedMs = 0L

  /** As the batch's plan has them. */
  var watermarks: Seq[SourceWatermark] = Nil

  def add(node: String, upstream: Seq[String]): Unit =
    nodes(node) = nodes.get(node).fold(NodeRecord(node, upstream, Map.empty))(_.copy(upstream = upstream))

  def add(node: String, measure: Measure, summary: LatencySummary): Unit = {
    val known = nodes.getOrElse(node, NodeRecord(node, Nil, Map.empty))
    nodes(node) = known.copy(measures = known.measures + (measure -> (known(measure) + summary)))
  }

  def add(node: String, ages: Iterable[Ages]): Unit = this.ages ++= ages.map(node -> _)

  def committed(atMs: Long): Unit = committedMs = math.max(committedMs, atMs)

  def committedAt: Long = committedMs

  /** In plan order, with the commit latency where it was taken. */
  def records: Seq[NodeRecord] = {
    val commits = ages.groupMap(_._1)(_._2).map { case (node, ages) => node -> Ages.at(committedMs, ages) }
    nodes.values.map { node =>
      node.copy(measures = node.measures ++ commits.get(node.id).map(Measure.Commit -> _))
    }.toSeq
  }
}
