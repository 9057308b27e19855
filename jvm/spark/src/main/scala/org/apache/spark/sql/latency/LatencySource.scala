package org.apache.spark.sql.latency

import scala.collection.mutable
import scala.util.control.NonFatal

import com.codahale.metrics.Gauge
import com.codahale.metrics.MetricRegistry
import io.sparklatency.Clock
import io.sparklatency.Metric
import io.sparklatency.MetricName
import io.sparklatency.NodeFigures
import io.sparklatency.NodeKey
import io.sparklatency.WallClock
import io.sparklatency.WindowSettings
import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.metrics.source.Source

/**
 * All figures of this process as gauges in Spark's metrics system: one source for each process, registered once, whose own
 * registry grows with the nodes and shrinks by exact name. (Spark removes sources by the prefix of their name.)
 */
final class LatencySource(clock: Clock, window: WindowSettings) extends Source {
  override val sourceName: String = "sparklatency"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val nodes = mutable.LinkedHashMap.empty[NodeKey, NodeFigures]

  /** The figures of a node, made and registered when first asked for. */
  def node(key: NodeKey): NodeFigures = synchronized {
    nodes.getOrElseUpdate(
      key, {
        val figures = new NodeFigures(clock, window)
        Metric.all.foreach(metric => metricRegistry.register(MetricName(key, metric), gauge(metric, figures)))
        figures
      }
    )
  }

  def remove(query: String): Unit = synchronized {
    nodes.keySet.filter(_.query == query).foreach { key =>
      Metric.all.foreach(metric => metricRegistry.remove(MetricName(key, metric)))
      nodes -= key
    }
  }

  /** Counters are whole numbers; what is unknown is NaN, as in Kafka. */
  private def gauge(metric: Metric, figures: NodeFigures): Gauge[Any] = metric.kind match {
    case Metric.Counter => () => metric.read(figures.snapshot()).fold(0L)(_.toLong)
    case Metric.Gauge => () => metric.read(figures.snapshot()).getOrElse(Double.NaN)
  }
}

/** What this executor did: every finished attempt at a task counts, also one that the driver later sets aside. */
object ExecutorFigures extends Logging {

  private lazy val source: Option[LatencySource] =
    try {
      val env = SparkEnv.get
      val source = new LatencySource(WallClock, LatencyConf(env.conf).window)
      env.metricsSystem.registerSource(source)
      Some(source)
    } catch {
      case NonFatal(e) => logWarning("this executor's latencies are not shown in its metrics", e); None
    }

  /** In local mode there is no executor beside the driver, and the driver's own source says all there is to say. */
  def add(key: NodeKey, summary: io.sparklatency.LatencySummary): Unit =
    if (SparkEnv.get.executorId != org.apache.spark.SparkContext.DRIVER_IDENTIFIER)
      source.foreach(_.node(key).add(summary))
}
