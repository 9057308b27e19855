package io.sparklatency.spark

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.BatchRecord
import io.sparklatency.LatencyPath
import io.sparklatency.LatencySplit
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.Metric
import io.sparklatency.NodeRecord
import io.sparklatency.NodeSnapshot
import io.sparklatency.NodeView
import io.sparklatency.ProcessingDelay
import io.sparklatency.QuerySnapshot
import io.sparklatency.RunStatus
import io.sparklatency.SourceWatermark

/** Figures as JSON: latencies in milliseconds, times in milliseconds since the epoch, `null` where unknown. */
object LatencyJson {
  private val mapper = new ObjectMapper

  /** The figures of queries, under `queries`. */
  def queries(queries: Seq[QuerySnapshot], status: QuerySnapshot => Option[RunStatus]): ObjectNode = {
    val root = mapper.createObjectNode()
    val array = root.putArray("queries")
    queries.foreach(query => put(array.addObject(), query, status(query)))
    root
  }

  /** What is answered instead where `query` is none of those that there are figures of. */
  def noFigures(query: String, known: Seq[String]): String = {
    val others = if (known.isEmpty) "" else known.mkString("; there are figures of '", "', '", "'")
    s"no figures of a query '$query': $NoneIsKnown$others"
  }

  val NoneIsKnown =
    "none is known, no batch of it with a marked node has ended, or newer runs took its place"

  /** Batches of one run of a query, under `batches`. */
  def history(batches: Seq[BatchRecord]): ObjectNode = {
    val root = mapper.createObjectNode()
    val array = root.putArray("batches")
    batches.foreach(batch => put(array.addObject(), batch))
    root
  }

  private def put(json: ObjectNode, query: QuerySnapshot, status: Option[RunStatus]): Unit = {
    json.put("query", query.name).put("id", query.id.orNull).put("run", query.runId.orNull)
      .put("status", status.map(_.name).orNull).put("batches", query.batches).put("folded", query.folded)
    putLong(json, "oldestUncommitted", query.oldestUncommittedMs)
    json.put("silent", query.isSilent)
    val path = new LatencyPath(query.latest)
    put(json, path)
    val nodes = json.putArray("nodes")
    query.nodes.zip(path.nodes).foreach { case (node, record) =>
      val one = putNode(nodes.addObject(), record, path)
      putMeasures(one, node.measures)
      putMeasure(one.putObject("batch"), Measure.E2ELatency, NodeSnapshot.of(node.lastLatency))
      val delays = one.putObject("delays")
      query.upstreamOf(node).foreach { other =>
        val delay = delays.putObject(other.id)
        putDelay(delay.putObject("window"), ProcessingDelay.between(windowOf(other), windowOf(node)))
        putDelay(delay.putObject("batch"), ProcessingDelay.between(other.lastLatency, node.lastLatency))
      }
    }
    query.lastBatch match {
      case Some(batch) => put(json.putObject("lastBatch"), batch)
      case None => json.putNull("lastBatch")
    }
  }

  private def put(json: ObjectNode, batch: BatchRecord): Unit = {
    json.put("batch", batch.batch).put("start", batch.startMs).put("committed", batch.committedMs)
      .put("inputRows", batch.inputRows).put("droppedLate", batch.droppedLate)
    putLong(json, "watermark", batch.watermarkMs)
    putLong(json, "watermarkLag", batch.watermarkLagMs)
    val watermarks = json.putArray("watermarks")
    batch.watermarks.foreach(watermark => put(watermarks.addObject(), watermark))
    val durations = json.putObject("durations")
    batch.durationsMs.toSeq.sorted.foreach { case (name, ms) => durations.put(name, ms) }
    val path = new LatencyPath(batch.nodes)
    put(json, path)
    val nodes = json.putArray("nodes")
    batch.nodes.foreach { node =>
      val one = putNode(nodes.addObject(), node, path)
      putMeasures(one, node.measures.map { case (measure, summary) => measure -> NodeSnapshot.of(summary) })
    }
  }

  private def put(json: ObjectNode, watermark: SourceWatermark): Unit = {
    json.put("source", watermark.source).put("column", watermark.column).put("delay", watermark.delayMs)
      .put("holdsBack", watermark.holdsBack)
    putLong(json, "watermark", watermark.watermarkMs)
  }

  private def put(json: ObjectNode, path: LatencyPath): Unit = {
    json.put("slowestStep", path.slowestStep.map(_.id).orNull)
    val critical = json.putArray("criticalPath")
    path.critical.foreach(id => critical.add(id))
    put(json.putObject("split"), path.split)
  }

  private def put(json: ObjectNode, split: LatencySplit): Unit = {
    putAges(json, "queuing", split.queuing)
    Seq("processing" -> split.processing, "commit" -> split.commit).foreach {
      case (part, Some(delay)) => putDelay(json.putObject(part), delay)
      case (part, None) => json.putNull(part)
    }
    putAges(json, "total", split.committed)
  }

  private def putNode(json: ObjectNode, node: NodeRecord, path: LatencyPath): ObjectNode = {
    json.put("node", node.id)
    val upstream = json.putArray("upstream")
    node.upstream.foreach(id => upstream.add(id))
    putDouble(json, "own", path.own(node))
    putDouble(json, "share", path.share(node))
    json
  }

  private def putAges(json: ObjectNode, field: String, ages: LatencySummary): Unit =
    if (ages.count == 0) json.putNull(field)
    else putStatistics(
      json.putObject(field),
      ages.min.map(_.toDouble),
      ages.avg,
      ages.percentile(50).map(_.toDouble),
      ages.percentile(99).map(_.toDouble),
      ages.max.map(_.toDouble)
    )

  private def putDelay(json: ObjectNode, delay: ProcessingDelay): Unit = {
    json.put("sameRecords", delay.sameRecords)
    putStatistics(json, delay.min, delay.avg, delay.p50, delay.p99, delay.max)
  }

  private def putStatistics(
      json: ObjectNode,
      min: Option[Double],
      avg: Option[Double],
      p50: Option[Double],
      p99: Option[Double],
      max: Option[Double]
  ): Unit = Seq("min" -> min, "avg" -> avg, "p50" -> p50, "p99" -> p99, "max" -> max).foreach {
    case (field, value) => putDouble(json, field, value)
  }

  /** The e2e latency's figures beside the node's id, those of other measures in objects of their own. */
  private def putMeasures(json: ObjectNode, measures: Map[Measure, NodeSnapshot]): Unit =
    Measure.all.foreach { measure =>
      NodeSnapshot.in(measures, measure) match {
        case None => json.putNull(measure.field)
        case Some(figures) =>
          putMeasure(
            if (measure == Measure.E2ELatency) json else json.putObject(measure.field),
            measure,
            figures
          )
      }
    }

  private def putMeasure(json: ObjectNode, measure: Measure, figures: NodeSnapshot): Unit =
    Metric.of(measure).foreach { metric =>
      metric.read(figures) match {
        case None => json.putNull(metric.field)
        case Some(value) if metric.kind == Metric.Counter => json.put(metric.field, value.toLong)
        case Some(value) => json.put(metric.field, value)
      }
    }

  private def putDouble(json: ObjectNode, field: String, value: Option[Double]): Unit = {
    json.put(field, value.map(Double.box).orNull)
    ()
  }

  private def putLong(json: ObjectNode, field: String, value: Option[Long]): Unit = {
    json.put(field, value.map(Long.box).orNull)
    ()
  }

  private def windowOf(node: NodeView): LatencySummary =
    node.measures.get(Measure.E2ELatency).fold(LatencySummary.empty)(_.window)
}
