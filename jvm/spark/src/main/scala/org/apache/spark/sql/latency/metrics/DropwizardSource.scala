package org.apache.spark.sql.latency.metrics

import java.util.concurrent.atomic.AtomicBoolean
import javax.management.ObjectName

import scala.collection.mutable

import com.codahale.metrics.Gauge
import com.codahale.metrics.MetricRegistry
import io.sparklatency.answer.Parts
import io.sparklatency.figures.DropwizardName
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.JmxName
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Metric
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.QueryMetric
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.WatermarkKey
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.time.ClockOffset
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.metrics.source.Source

/**
 * The figures of this process as gauges in Spark's metrics system, and those of tasks as MBeans. Each process has one source
 * and registers it once. Its own registry grows with the nodes and shrinks by exact names: Spark itself removes a source by
 * the prefix of its name, and would take `q10` along with `q1`.
 *
 * A gauge costs nothing until a sink reads it. Then all gauges of one measure of a node share one computation, made at most
 * ten times a second while the figures stand. Where no batch tells its parts, each part of a query's age costs a look at its
 * nodes. The threads of sinks and of JMX read; [[LiveRuns]] adds and removes under its lock.
 */
private[latency] sealed class DropwizardSource extends Source with FiguresListener with Logging {
  override val sourceName: String = "sparklatency"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val hasFailed = new AtomicBoolean

  // What goes with a query.
  private val gauges = mutable.Map.empty[String, List[String]]
  private val beans = mutable.Map.empty[String, List[ObjectName]]

  override def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit =
    Metric.of(measure).foreach(metric =>
      add(key.query, DropwizardName(key, metric))(metric.value(figures.snapshot()))
    )

  override def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit =
    keep(query, LatencyBean.register(JmxName(SparkEnv.get.executorId, query, task, node), figures))

  override def addedOperator(key: NodeKey, latency: OperatorLatency): Unit =
    Metric.ofOperators.foreach(metric =>
      add(key.query, DropwizardName(key, metric))(metric.value(latency.all))
    )

  override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit =
    addAll(query, Metric.ofQueries, read)

  override def addedAges(query: String, read: () => Option[QuerySnapshot]): Unit =
    addAll(query, Parts.metrics, read)

  private def addAll(query: String, of: Seq[QueryMetric], read: () => Option[QuerySnapshot]): Unit =
    of.foreach(metric => add(query, DropwizardName.ofQuery(query, metric))(metric.value(read())))

  override def addedMarker(query: String, key: MarkerKey, figures: LiveFigures): Unit = {
    Metric.ofMarkers.foreach(metric =>
      add(query, DropwizardName.ofMarker(query, key, metric))(metric.value(figures.snapshot()))
    )
    keep(query, LatencyBean.registerMarkers(JmxName.ofMarker(query, key), figures))
  }

  override def addedWatermark(query: String, key: WatermarkKey, read: () => Option[QuerySnapshot]): Unit =
    Metric.ofWatermarks.foreach(metric =>
      add(query, DropwizardName.ofWatermark(query, key, metric))(metric.value(read(), key))
    )

  private def add(query: String, name: String)(value: => AnyRef): Unit = {
    register(name)(value)
    synchronized(gauges(query) = name :: gauges.getOrElse(query, Nil))
  }

  private def register(name: String)(value: => AnyRef): Unit = {
    metricRegistry.register(name, (() => orUnknown(value)): Gauge[AnyRef])
    ()
  }

  /** If a gauge throws, a sink tells nothing more of what comes behind it in the registry, also of Spark's own. */
  private def orUnknown(value: => AnyRef): AnyRef =
    try value
    catch {
      case OurFailure(e) =>
        if (hasFailed.compareAndSet(false, true))
          logWarning("a metric of sparklatency cannot be read, and is NaN", e)
        Double.box(Double.NaN)
    }

  private def keep(query: String, bean: ObjectName): Unit =
    synchronized(beans(query) = bean :: beans.getOrElse(query, Nil))

  /** @param offset none where it is unknown; asked when a gauge or bean is read */
  def addedClock(executor: String, offset: () => Option[ClockOffset]): Unit = {
    Metric.ofClocks.foreach(metric =>
      register(DropwizardName.ofClock(executor, metric))(metric.value(offset()))
    )
    LatencyBean.register(JmxName.ofClock(executor), offset)
    ()
  }

  def removedClock(executor: String): Unit = {
    Metric.ofClocks.foreach(metric => metricRegistry.remove(DropwizardName.ofClock(executor, metric)))
    closedClock(executor)
  }

  /** The registry ends with Spark's own, after its last report. Beans are the process's. */
  override def closed(): Unit = synchronized {
    beans.valuesIterator.flatten.foreach(LatencyBean.unregister)
    beans.clear()
  }

  /** The same of an executor's clock. */
  def closedClock(executor: String): Unit = LatencyBean.unregister(JmxName.ofClock(executor))

  override def removed(query: String): Unit = {
    synchronized(gauges.remove(query)).toSeq.flatten.foreach(metricRegistry.remove)
    synchronized(beans.remove(query)).toSeq.flatten.foreach(LatencyBean.unregister)
  }
}

private[latency] object DropwizardSource {

  /** That of an executor: only the driver knows how a query as a whole goes. */
  final class OfExecutor extends DropwizardSource {
    override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = ()
    override def addedAges(query: String, read: () => Option[QuerySnapshot]): Unit = ()
  }
}
