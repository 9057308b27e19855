package io.sparklatency.spark

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.Metric
import io.sparklatency.NodeSnapshot
import io.sparklatency.ProcessingDelay
import org.apache.spark.sql.latency.NodeView
import org.apache.spark.sql.latency.QuerySnapshot

/** Figures as JSON: latencies in milliseconds, `null` where unknown. */
private[spark] object LatencyJson {
  private val mapper = new ObjectMapper

  def apply(queries: Seq[QuerySnapshot]): String = {
    val root = mapper.createObjectNode()
    val array = root.putArray("queries")
    queries.foreach { query =>
      val one = array.addObject().put("query", query.name).put("id", query.id.orNull)
        .put("run", query.runId.orNull).put("batches", query.batches)
        .put("folded", query.folded)
      val nodes = one.putArray("nodes")
      query.nodes.foreach { node =>
        val json = nodes.addObject().put("node", node.id)
        put(json, node.measures)
        put(json.putObject("batch"), Measure.E2ELatency, NodeSnapshot.of(node.batch))
        val upstream = json.putArray("upstream")
        node.upstream.foreach(id => upstream.add(id))
        val delays = json.putObject("delays")
        query.upstreamOf(node).foreach { other =>
          val delay = delays.putObject(other.id)
          put(delay.putObject("window"), ProcessingDelay.between(latencies(other), latencies(node)))
          put(delay.putObject("batch"), ProcessingDelay.between(other.batch, node.batch))
        }
      }
    }
    mapper.writeValueAsString(root)
  }

  private def latencies(node: NodeView): LatencySummary =
    node.measures.get(Measure.E2ELatency).fold(LatencySummary.empty)(_.window)

  private def put(json: ObjectNode, delay: ProcessingDelay): Unit = {
    json.put("sameRecords", delay.sameRecords)
    Seq(
      "min" -> delay.min,
      "avg" -> delay.avg,
      "p50" -> delay.p50,
      "p99" -> delay.p99,
      "max" -> delay.max
    ).foreach {
      case (field, value) => json.put(field, value.map(Double.box).orNull)
    }
  }

  /** The e2e latency's figures beside the node's id, those of other measures in objects of their own. */
  private def put(json: ObjectNode, measures: Map[Measure, NodeSnapshot]): Unit = Measure.all.foreach {
    case Measure.E2ELatency =>
      put(json, Measure.E2ELatency, measures.getOrElse(Measure.E2ELatency, NodeSnapshot.empty))
    case other => measures.get(other) match {
        case None => json.putNull(other.field)
        case Some(figures) => put(json.putObject(other.field), other, figures)
      }
  }

  private def put(json: ObjectNode, measure: Measure, figures: NodeSnapshot): Unit =
    Metric.of(measure).foreach {
      metric =>
        metric.read(figures) match {
          case None => json.putNull(metric.field)
          case Some(value) if metric.kind == Metric.Counter => json.put(metric.field, value.toLong)
          case Some(value) => json.put(metric.field, value)
        }
    }
}
