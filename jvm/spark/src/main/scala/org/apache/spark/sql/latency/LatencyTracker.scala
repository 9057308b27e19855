package org.apache.spark.sql.latency

import java.util.UUID
import java.util.concurrent.TimeoutException

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.sparklatency.NodeKey
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
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/**
 * The driver's figures. When an execution ends well (a micro-batch, or a batch query), what its marks recorded is taken from
 * their accumulators, which hold each partition once, and added to the figures of its query. An execution that failed is left
 * alone: its results were not committed, and it will be run again.
 */
final class LatencyTracker(context: SparkContext) extends SparkListener with AdaptiveSparkPlanHelper {
  import LatencyTracker._

  private val source = new LatencySource(WallClock, LatencyConf(context.getConf).window)(_.stopped)
  private val names = mutable.Map.empty[UUID, String]

  context.env.metricsSystem.registerSource(source)
  // A queue of our own: another listener that is slow or overrun cannot make us lose an execution.
  context.listenerBus.addToQueue(this, "sparklatency")

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case end: SparkListenerSQLExecutionEnd if end.qe != null && end.executionFailure.isEmpty => take(end.qe)
    case end: QueryTerminatedEvent =>
      synchronized(names.remove(end.runId))
      source.stopped(end.runId.toString)
    case _ =>
  }

  override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = release(context)

  /** Waits, a second at the most, until the executions that have ended are counted: their events arrive in a queue. */
  def settle(): Unit =
    try context.listenerBus.waitUntilEmpty(1000)
    catch { case _: TimeoutException => }

  def snapshot(): Seq[QuerySnapshot] = source.snapshot()

  private def take(execution: QueryExecution): Unit =
    figuresOf(execution).groupBy(_.owner.key.query).values.foreach { marks =>
      source.update(marks.head.owner) { query =>
        execution match {
          case batch: IncrementalExecution => query.countBatch(batch.currentBatchId)
          case _ if query.id.isEmpty => query.countExecution()
          case _ => // an action within foreachBatch
        }
        marks.map(_.owner.key.node).distinct.foreach { node =>
          query.add(node, LatencyAccumulator.take(marks.filter(_.owner.key.node == node)))
        }
      }
    }

  /**
   * The name under which a run of a query goes as long as it lasts: its own, or its id where it has none, or where a query of
   * another session has the same name and runs.
   */
  private def nameOf(query: StreamingQuery, isRunning: UUID => Boolean): String = synchronized {
    names.getOrElseUpdate(
      query.runId, {
        val taken = names.exists { case (run, name) => name == query.name && isRunning(run) }
        if (query.name == null || taken) query.id.toString else query.name
      }
    )
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

object LatencyTracker extends Logging {

  /** The name under which executions outside a streaming query are shown. */
  private val BatchQueries = "__batch__"

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
    val accumulator = new LatencyAccumulator(owner(session, node))
    accumulator.register(session.sparkContext)
    accumulator
  }

  /** A streaming query leaves its id in the local properties of the thread that plans and runs its batches. */
  private def owner(session: SparkSession, node: String): MarkOwner = {
    val tracker = of(session.sparkContext)
    val active = session.sharedState.activeStreamingQueries
    Option(session.sparkContext.getLocalProperty("sql.streaming.queryId")) match {
      case Some(id) =>
        val running = Option(active.get(UUID.fromString(id)))
        val name = running.fold(id)(query => tracker.nameOf(query, run => active.values.asScala.exists(_.runId == run)))
        MarkOwner(NodeKey(name, node), Some(id), running.map(_.runId.toString))
      case None => MarkOwner(NodeKey(BatchQueries, node), None, None)
    }
  }
}
