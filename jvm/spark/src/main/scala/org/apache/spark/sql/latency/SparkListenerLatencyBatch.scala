package org.apache.spark.sql.latency

import scala.jdk.CollectionConverters._

import io.sparklatency.BatchRecord
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.NodeRecord
import io.sparklatency.SourceWatermark
import org.apache.spark.scheduler.SparkListenerEvent

/**
 * One batch of a query, as it goes over the listener bus and into the event log: a [[BatchRecord]] in types that Jackson reads as
 * it wrote them. (It does not know what a Scala collection holds: a Long in one comes back as an Integer.)
 *
 * @param version of this format. A reader takes what it knows; fields and measures of a newer one are skipped
 */
final case class SparkListenerLatencyBatch(
    version: Int,
    query: String,
    queryId: String,
    runId: String,
    batch: Long,
    startMs: Long,
    committedMs: Long,
    inputRows: Long,
    durationsMs: java.util.Map[String, java.lang.Long],
    watermarkMs: java.lang.Long,
    watermarks: Array[WatermarkFields],
    droppedLate: Long,
    nodes: Array[NodeFields]
) extends SparkListenerEvent {

  def record: BatchRecord = BatchRecord(
    query,
    Option(queryId),
    Option(runId),
    batch,
    startMs,
    committedMs,
    inputRows,
    Option(durationsMs).fold(Map.empty[String, Long])(_.asScala.view.mapValues(_.toLong).toMap),
    Option(watermarkMs).map(_.toLong),
    Option(watermarks).toSeq.flatten.map(_.watermark),
    droppedLate,
    Option(nodes).toSeq.flatten.map(_.node)
  )
}

object SparkListenerLatencyBatch {
  val Version = 1

  def apply(record: BatchRecord): SparkListenerLatencyBatch = SparkListenerLatencyBatch(
    Version,
    record.query,
    record.queryId.orNull,
    record.runId.orNull,
    record.batch,
    record.startMs,
    record.committedMs,
    record.inputRows,
    record.durationsMs.view.mapValues(Long.box).toMap.asJava,
    record.watermarkMs.map(Long.box).orNull,
    record.watermarks.map(WatermarkFields(_)).toArray,
    record.droppedLate,
    record.nodes.map(NodeFields(_)).toArray
  )
}

/** A [[SourceWatermark]]. */
final case class WatermarkFields(
    source: String,
    column: String,
    delayMs: Long,
    watermarkMs: java.lang.Long,
    holdsBack: Boolean
) {
  def watermark: SourceWatermark =
    SourceWatermark(source, column, delayMs, Option(watermarkMs).map(_.toLong), holdsBack)
}

object WatermarkFields {
  def apply(watermark: SourceWatermark): WatermarkFields = WatermarkFields(
    watermark.source,
    watermark.column,
    watermark.delayMs,
    watermark.watermarkMs.map(Long.box).orNull,
    watermark.holdsBack
  )
}

/** @param measures by name, each a summary as [[LatencySummary.toBytes]] writes it */
final case class NodeFields(
    id: String,
    upstream: Array[String],
    measures: java.util.Map[String, Array[Byte]]
) {
  def node: NodeRecord = NodeRecord(
    id,
    upstream.toSeq,
    Measure.all.flatMap(m => Option(measures.get(m.name)).map(m -> LatencySummary.fromBytes(_))).toMap
  )
}

object NodeFields {
  def apply(node: NodeRecord): NodeFields = NodeFields(
    node.id,
    node.upstream.toArray,
    node.measures.map { case (measure, summary) => measure.name -> summary.toBytes }.asJava
  )
}
