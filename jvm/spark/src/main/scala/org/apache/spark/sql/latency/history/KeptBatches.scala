package org.apache.spark.sql.latency.history

import scala.jdk.CollectionConverters._

import io.sparklatency.drawing.LatencyChart
import io.sparklatency.drawing.PhasesChart
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import org.apache.spark.sql.latency.SparkListenerLatencyBatch

/**
 * Batches of a run, as pages show them. They are decoded when they are asked for, and of each no more than is shown. Immutable, for any
 * thread.
 */
private[latency] final class KeptBatches(newestFirst: Seq[SparkListenerLatencyBatch]) {

  /** The newest, by which a page knows whether a batch has come since: a store in memory gives the same one again. */
  def newest: Option[AnyRef] = newestFirst.headOption

  def size: Int = newestFirst.size

  /** The last of them, the newest first, each with the nodes that records left last. */
  def ends(limit: Int): Seq[Batch] = newestFirst.take(limit).map(_.atEnd.record)

  /** How the latency of some nodes went, oldest first. */
  def latencies(nodes: Set[String]): Map[String, Seq[LatencyChart.Point]] =
    newestFirst.flatMap { batch =>
      batch.nodes.filter(node => nodes(node.id)).map { node =>
        node.id -> LatencyChart.Point(batch.committedMs, node(Measure.E2ELatency))
      }
    }.reverse.groupMap { case (node, _) => node } { case (_, point) => point }

  /** What the last of them spent their time on, oldest first. Nothing is decoded. */
  def phases(limit: Int): Seq[PhasesChart.Bar] =
    newestFirst.take(limit).flatMap { batch =>
      val durations =
        Option(batch.durationsMs).fold(Map.empty[String, Long])(_.asScala.view.mapValues(_.toLong).toMap)
      PhasesChart.bar(batch.batch, batch.startMs, durations, batch.inputRows)
    }.reverse
}
