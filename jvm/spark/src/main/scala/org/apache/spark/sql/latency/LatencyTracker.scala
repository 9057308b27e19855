package org.apache.spark.sql.latency

import java.util.concurrent.TimeoutException

import scala.collection.mutable

import io.sparklatency.NodeFigures
import io.sparklatency.NodeKey
import io.sparklatency.NodeSnapshot
import io.sparklatency.WallClock
import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerApplicationEnd
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/**
 * The driver's figures. When an execution ends well (a micro-batch, or a batch query), what its marks recorded is taken from
 * their accumulators, which hold each partition once, and added to the figures of its query. An execution that failed is left
 * alone: its results were not committed, and it will be run again.
 */
final class LatencyTracker(context: SparkContext) extends SparkListener with AdaptiveSparkPlanHelper {
  import LatencyTracker._

  private val source = new LatencySource(WallClock, LatencyConf(context.getConf).window)
  private val queries = mutable.LinkedHashMap.empty[String, QueryFigures]

  context.env.metricsSystem.registerSource(source)
  // A queue of our own: another listener that is slow or overrun cannot make us lose an execution.
  context.listenerBus.addToQueue(this, "sparklatency")

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case end: SparkListenerSQLExecutionEnd if end.qe != null && end.executionFailure.isEmpty => take(end.qe)
    case end: QueryTerminatedEvent => stopped(end.runId.toString)
    case _ =>
  }

  override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = release(context)

  /** Waits, a second at the most, until the executions that have ended are counted: their events arrive in a queue. */
  def settle(): Unit =
    try context.listenerBus.waitUntilEmpty(1000)
    catch { case _: TimeoutException => }

  /** The figures of every query that is known, in the order in which they were first seen. */
  def snapshot(): Seq[QuerySnapshot] = synchronized {
    queries.values.map { query =>
      QuerySnapshot(
        query.name,
        query.id,
        query.batches,
        query.nodes.toSeq.map { case (node, f) => node -> f.snapshot() }
      )
    }.toSeq
  }

  private def take(execution: QueryExecution): Unit =
    figuresOf(execution).groupBy(_.owner.key.query).values.foreach(add)

  private def add(marks: Seq[LatencyAccumulator]): Unit = synchronized {
    val query = run(marks.head.owner)
    if (marks.exists(_.isUntouched)) query.batches += 1
    marks.foreach { mark =>
      val key = mark.owner.key
      val node = query.nodes.getOrElseUpdate(key.node, source.node(key))
      val summary = mark.take()
      if (!summary.isEmpty) node.add(summary)
    }
  }

  /** The figures of this run of the query; those of an earlier run in the same application are let go. */
  private def run(owner: MarkOwner): QueryFigures = {
    val name = owner.key.query
    if (queries.get(name).exists(_.runId != owner.runId)) forget(name)
    queries.getOrElseUpdate(name, new QueryFigures(name, owner.queryId, owner.runId))
  }

  /** The gauges of a stopped query go; its last figures can still be read, as long as not too many queries came after it. */
  private def stopped(runId: String): Unit = synchronized {
    queries.values.find(_.runId.contains(runId)).foreach { query =>
      source.remove(query.name)
      query.stopped = true
    }
    val past = queries.values.filter(_.stopped).map(_.name).toSeq
    past.dropRight(StoppedQueriesKept).foreach(queries.remove)
  }

  private def forget(name: String): Unit = {
    source.remove(name)
    queries.remove(name)
  }

  /** The accumulators of all marks of an execution, upstream nodes first. */
  private def figuresOf(execution: QueryExecution): Seq[LatencyAccumulator] =
    nodesOf(execution.executedPlan).flatMap(_.expressions).flatMap(_.collect { case mark: RecordE2ELatency =>
      mark.figures
    })
      .distinctBy(_.id)

  /** A node after all that it reads from, plans that Spark keeps apart from the tree included. */
  private def nodesOf(plan: SparkPlan): Seq[SparkPlan] = {
    val apart = plan match {
      // What is left of a query is planned anew while it runs, and a stage that has run may be dropped from the final plan.
      case adaptive: AdaptiveSparkPlanExec if adaptive.initialPlan ne adaptive.executedPlan =>
        Seq(adaptive.initialPlan)
      case scan: InMemoryTableScanExec => Seq(scan.relation.cachedPlan)
      case _ => Nil
    }
    (allChildren(plan) ++ plan.subqueries ++ apart).flatMap(nodesOf) :+ plan
  }
}

/** A query's figures at one instant; nodes in plan order, upstream first. */
final case class QuerySnapshot(
    name: String,
    id: Option[String],
    batches: Long,
    nodes: Seq[(String, NodeSnapshot)]
)

object LatencyTracker extends Logging {
  private val StoppedQueriesKept = 100

  /** The name under which executions outside a streaming query are shown. */
  private val BatchQueries = "__batch__"

  private final class QueryFigures(val name: String, val id: Option[String], val runId: Option[String]) {
    val nodes = mutable.LinkedHashMap.empty[String, NodeFigures]
    var batches = 0L
    var stopped = false
  }

  private var current: Option[(SparkContext, LatencyTracker)] = None

  /** The tracker of this application, installed when first asked for. */
  def of(context: SparkContext): LatencyTracker = synchronized {
    current.collect { case (`context`, tracker) => tracker }.getOrElse {
      val tracker = new LatencyTracker(context)
      current = Some(context -> tracker)
      tracker
    }
  }

  private def release(context: SparkContext): Unit = synchronized {
    current = current.filterNot { case (other, _) => other eq context }
  }

  /** A registered accumulator for a node of the plan that `session` is about to run in this thread. */
  def accumulator(session: SparkSession, node: String): LatencyAccumulator = {
    val context = session.sparkContext
    of(context)
    val accumulator = new LatencyAccumulator(owner(session, node))
    accumulator.register(context)
    accumulator
  }

  /** A streaming query leaves its ids in the local properties of the thread that plans and runs its batches. */
  private def owner(session: SparkSession, node: String): MarkOwner = {
    val property = (name: String) => Option(session.sparkContext.getLocalProperty(name))
    property("sql.streaming.queryId") match {
      case Some(id) =>
        val running = Option(session.sharedState.activeStreamingQueries.get(java.util.UUID.fromString(id)))
        val name = running.flatMap(query => Option(query.name)).getOrElse(id)
        MarkOwner(NodeKey(name, node), Some(id), running.map(_.runId.toString))
      case None => MarkOwner(NodeKey(BatchQueries, node), None, None)
    }
  }
}
