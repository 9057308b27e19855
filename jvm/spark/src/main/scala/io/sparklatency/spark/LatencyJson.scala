package io.sparklatency.spark

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.Metric
import io.sparklatency.NodeSnapshot
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
      val nodes = one.putArray("nodes")
      query.nodes.foreach { case (node, snapshot) => put(nodes.addObject().put("node", node), snapshot) }
    }
    mapper.writeValueAsString(root)
  }

  private def put(json: ObjectNode, snapshot: NodeSnapshot): Unit = Metric.all.foreach { metric =>
    metric.read(snapshot) match {
      case None => json.putNull(metric.field)
      case Some(value) if metric.kind == Metric.Counter => json.put(metric.field, value.toLong)
      case Some(value) => json.put(metric.field, value)
    }
  }
}
