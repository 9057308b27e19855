package org.apache.spark.sql.latency

import scala.collection.mutable
import scala.util.control.NonFatal

import com.codahale.metrics.Gauge
import com.codahale.metrics.MetricRegistry
import io.sparklatency.Clock
import io.sparklatency.LatencySummary
import io.sparklatency.Metric
import io.sparklatency.MetricName
import io.sparklatency.NodeFigures
import io.sparklatency.NodeKey
import io.sparklatency.NodeSnapshot
import io.sparklatency.WallClock
import io.sparklatency.WindowSettings
import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkContext
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging
import org.apache.spark.metrics.source.Source

/**
 * All figures of this process, and the same as gauges in Spark's metrics system: one source for each process, registered once,
 * whose own registry grows with the nodes and shrinks by exact name. (Spark removes sources by the prefix of their name.)
 *
 * @param mayForget what may be let go when more than [[LatencySource.QueriesKept]] of its kind are known, oldest first
 */
final class LatencySource(clock: Clock, window: WindowSettings)(mayForget: QueryFigures => Boolean)
    extends Source {
  override val sourceName: String = "sparklatency"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val queries = mutable.LinkedHashMap.empty[String, QueryFigures]

  /** Hands over the figures of a run of a query, which begin anew with each run. */
  def update(owner: MarkOwner)(change: QueryFigures => Unit): Unit = synchronized {
    val name = owner.key.query
    if (queries.get(name).exists(_.runId != owner.runId)) forget(name)
    change(queries.getOrElseUpdate(name, new QueryFigures(owner, node => register(NodeKey(name, node)))))
    forgetSome()
  }

  /** The gauges of a stopped query go; its last figures can still be read, as long as not too many queries came after it. */
  def stopped(runId: String): Unit = synchronized {
    queries.values.find(_.runId.contains(runId)).foreach { query =>
      query.stopped = true
      unregister(query)
    }
    forgetSome()
  }

  /** A task has ended without success: what it published stands no more, unless it was to run for ever. */
  def ended(task: Long, keep: Boolean): Unit = synchronized {
    queries.values.foreach(query => if (keep) query.keep(task) else query.forget(task))
  }

  /** In the order in which the queries were first seen. */
  def snapshot(): Seq[QuerySnapshot] = synchronized(queries.values.map(_.snapshot()).toSeq)

  private def forgetSome(): Unit =
    queries.values.filter(mayForget).map(_.name).toSeq.dropRight(LatencySource.QueriesKept).foreach(forget)

  private def forget(name: String): Unit = queries.remove(name).foreach(unregister)

  private def register(key: NodeKey): NodeFigures = {
    val figures = new NodeFigures(clock, window)
    Metric.all.foreach(metric => metricRegistry.register(MetricName(key, metric), gauge(metric, figures)))
    figures
  }

  private def unregister(query: QueryFigures): Unit =
    for (node <- query.nodeIds; metric <- Metric.all)
      metricRegistry.remove(MetricName(NodeKey(query.name, node), metric))

  /** Counters are whole numbers; what is unknown is NaN, as in Kafka. */
  private def gauge(metric: Metric, figures: NodeFigures): Gauge[Any] = metric.kind match {
    case Metric.Counter => () => metric.read(figures.snapshot()).fold(0L)(_.toLong)
    case Metric.Gauge => () => metric.read(figures.snapshot()).getOrElse(Double.NaN)
  }
}

object LatencySource {
  val QueriesKept = 100
}

/** The figures of one run of a query. Not thread-safe. */
final class QueryFigures(owner: MarkOwner, register: String => NodeFigures) {
  private val nodes = mutable.LinkedHashMap.empty[String, NodeFigures]
  private var batches = 0L
  private var lastBatch = -1L
  var stopped = false

  def name: String = owner.key.query
  def id: Option[String] = owner.queryId
  def runId: Option[String] = owner.runId
  def nodeIds: Iterable[String] = nodes.keys

  def add(node: String, summary: LatencySummary): Unit = if (summary.isEmpty) of(node) else of(node).add(summary)

  /** What stands of a batch: the marks are those of its plan, upstream first. */
  def add(node: String, readings: Iterable[Reading]): Unit = {
    val figures = of(node)
    readings.foreach { reading =>
      val task = reading.attempt.id
      figures.add(reading.summary, if (figures.hasPublished(task)) reading.rest else reading.summary)
    }
    readings.foreach(reading => figures.forget(reading.attempt.id))
  }

  def publish(node: String, task: Long, part: LatencySummary): Unit = of(node).publish(task, part)

  def forget(task: Long): Unit = nodes.values.foreach(_.forget(task))
  def keep(task: Long): Unit = nodes.values.foreach(_.keep(task))

  /** Nodes show in the order of the plan, also those of which a running task was the first to tell. */
  def order(ids: Seq[String]): Unit = {
    val ordered = ids.flatMap(id => nodes.remove(id).map(id -> _))
    val others = nodes.toSeq
    nodes.clear()
    nodes ++= ordered ++= others
  }

  private def of(node: String): NodeFigures = nodes.getOrElseUpdate(node, register(node))

  /** Spark ends the execution of a micro-batch twice, one within the other. */
  def countBatch(batchId: Long): Unit = if (batchId != lastBatch) {
    lastBatch = batchId
    batches += 1
  }

  def countExecution(): Unit = batches += 1

  def snapshot(): QuerySnapshot =
    QuerySnapshot(name, id, runId, batches, nodes.toSeq.map { case (node, figures) => node -> figures.snapshot() })
}

/** A query's figures at one instant; nodes in plan order, upstream first. */
final case class QuerySnapshot(
    name: String,
    id: Option[String],
    runId: Option[String],
    batches: Long,
    nodes: Seq[(String, NodeSnapshot)]
)

/** What this executor did: every finished attempt at a task counts, also one that the driver later sets aside. */
object ExecutorFigures extends Logging {

  private lazy val source: Option[LatencySource] =
    try {
      val env = SparkEnv.get
      // No executor is told that a query has stopped.
      val source = new LatencySource(WallClock, LatencyConf(env.conf).window)(_ => true)
      env.metricsSystem.registerSource(source)
      Some(source)
    } catch {
      case NonFatal(e) => logWarning("this executor's latencies are not shown in its metrics", e); None
    }

  /** In local mode there is no executor beside the driver, and the driver's own source says all there is to say. */
  def add(owner: MarkOwner, summary: LatencySummary): Unit =
    if (SparkEnv.get.executorId != SparkContext.DRIVER_IDENTIFIER)
      source.foreach(_.update(owner)(_.add(owner.key.node, summary)))
}
