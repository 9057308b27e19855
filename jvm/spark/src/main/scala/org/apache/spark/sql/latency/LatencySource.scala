package org.apache.spark.sql.latency

import javax.management.ObjectName

import scala.collection.mutable
import scala.util.control.NonFatal

import com.codahale.metrics.Gauge
import com.codahale.metrics.MetricRegistry
import io.sparklatency.BeanName
import io.sparklatency.Clock
import io.sparklatency.FiguresSettings
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.Metric
import io.sparklatency.MetricName
import io.sparklatency.NodeFigures
import io.sparklatency.NodeKey
import io.sparklatency.QuerySnapshot
import io.sparklatency.WallClock
import io.sparklatency.WindowSamples
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
final class LatencySource(clock: Clock, settings: FiguresSettings)(mayForget: QueryFigures => Boolean)
    extends Source {
  override val sourceName: String = "sparklatency"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val queries = mutable.LinkedHashMap.empty[String, QueryFigures]
  private val endlessTasks = mutable.Set.empty[Long]
  private val endedTasks = new Newest[Long](10000)
  private val endedPlannings = new Newest[Long](10000)
  private val endedRuns = new Newest[String](1000)

  /** Hands over the figures of a run of a query, which begin anew with each run. */
  def update[A](owner: MarkOwner)(change: QueryFigures => A): A = synchronized {
    val name = owner.key.query
    if (queries.get(name).exists(_.runId != owner.runId)) forget(name)
    if (!hasRoom) makeRoomBeside(name)
    val query = queries.getOrElseUpdate(name, new QueryFigures(owner, settings.granularity, new Shown(name)))
    forgetSome()
    change(query)
  }

  /** The same of a run that is known already. */
  def ofRun[A](runId: String)(read: QueryFigures => A): Option[A] = synchronized {
    queries.values.find(_.runId.contains(runId)).map(read)
  }

  def hasEnded(runId: String): Boolean = synchronized(endedRuns.contains(runId))

  /** The gauges of a stopped query go; its last figures can still be read, as long as not too many queries came after it. */
  def stopped(runId: String): Unit = synchronized {
    endedRuns.add(runId)
    ofRun(runId) { query =>
      query.stopped = true
      unregister(query)
    }
    forgetSome()
  }

  /** Nothing of ours is to outlive the application in this process. */
  def close(): Unit = synchronized {
    queries.values.foreach(unregister)
    queries.clear()
  }

  /** Of a task that still runs. What comes after it has ended, or its execution, or this run of its query, is too late. */
  def publish(part: PublishedPart): Unit = synchronized {
    if (part.endless) endlessTasks += part.reading.task
    val isLate = endedTasks.contains(part.reading.task) || part.owner.runId.exists(hasEnded) ||
      !part.endless && endedPlannings.contains(part.reading.planning)
    if (!isLate) update(part.owner)(_.publish(part))
  }

  /** What a task that has failed published stands no more; of one that was to run for ever it stands however it has ended. */
  def taskEnded(task: Long, hasFailed: Boolean): Unit = synchronized {
    endedTasks.add(task)
    if (endlessTasks.remove(task)) queries.values.foreach(_.keep(task))
    else if (hasFailed) queries.values.foreach(_.forget(task))
  }

  /** An execution has ended: what its tasks published and was not added does not stand. */
  def executionEnded(plannings: Set[Long]): Unit = synchronized {
    plannings.foreach(endedPlannings.add)
    queries.values.foreach(_.ended(plannings))
  }

  /** In the order in which the queries were first seen. */
  def snapshot(): Seq[QuerySnapshot] = {
    val now = clock.millis()
    synchronized(queries.values.map(_.snapshot(now)).toSeq)
  }

  /** The gauges and beans of a stopped query are gone. */
  private def shownQueries: Iterable[QueryFigures] = queries.values.filterNot(_.stopped)

  private def hasRoom: Boolean = shownQueries.map(_.figures.size).sum < settings.maxNodes

  /** The oldest queries go that may. */
  private def makeRoomBeside(name: String): Unit = {
    val others =
      shownQueries.filter(query => query.name != name && mayForget(query)).map(_.name).toSeq.iterator
    while (!hasRoom && others.hasNext) forget(others.next())
  }

  private def forgetSome(): Unit =
    queries.values.filter(mayForget).map(_.name).toSeq.dropRight(LatencySource.QueriesKept).foreach(forget)

  private def forget(name: String): Unit = queries.remove(name).foreach(unregister)

  private def unregister(query: QueryFigures): Unit = {
    for ((node, measures) <- query.figures; measure <- measures.keys; metric <- Metric.of(measure))
      metricRegistry.remove(MetricName(NodeKey(query.name, node), metric))
    query.beans.foreach(LatencyBean.unregister)
  }

  /** Makes figures, and shows them. */
  private final class Shown(query: String) extends FiguresMaker {
    private val samples = WindowSamples(settings.window, clock)

    override def hasRoom: Boolean = LatencySource.this.hasRoom

    override def hasRoomForTask: Boolean = shownQueries.map(_.beans.size).sum < settings.maxNodes

    override def node(node: String, measure: Measure): NodeFigures = {
      val figures = new NodeFigures(clock, samples)
      Metric.of(measure).foreach { metric =>
        metricRegistry.register(MetricName(NodeKey(query, node), metric), gauge(metric, figures))
      }
      figures
    }

    override def task(task: String, node: Option[String]): (NodeFigures, ObjectName) = {
      val figures = new NodeFigures(clock, samples)
      figures -> LatencyBean.register(BeanName(SparkEnv.get.executorId, query, task, node), figures)
    }
  }

  private def gauge(metric: Metric, figures: NodeFigures): Gauge[AnyRef] =
    () => metric.value(figures.snapshot())
}

object LatencySource {
  val QueriesKept = 100
}

/** The last so many values of a kind. */
private final class Newest[A](limit: Int) {
  private val values = mutable.LinkedHashSet.empty[A]
  def contains(value: A): Boolean = values.contains(value)

  def add(value: A): Unit = {
    values += value
    if (values.size > limit) values -= values.head
  }
}

/** What this executor did: every finished attempt at a task counts, also one that the driver later sets aside. */
object ExecutorFigures extends Logging {

  private lazy val source: Option[LatencySource] =
    try {
      val env = SparkEnv.get
      // No executor is told that a query has stopped.
      val source = new LatencySource(WallClock, LatencyConf(env.conf).figures)(_ => true)
      env.metricsSystem.registerSource(source)
      Some(source)
    } catch {
      case NonFatal(e) => logWarning("this executor's latencies are not shown in its metrics", e); None
    }

  /** In local mode there is no executor beside the driver, and the driver's own source says all there is to say. */
  def add(owner: MarkOwner, summary: LatencySummary): Unit =
    if (SparkEnv.get.executorId != SparkContext.DRIVER_IDENTIFIER)
      source.foreach(_.update(owner)(_.add(owner.key.node, owner.measure, summary)))
}
