package org.apache.spark.sql.latency

import scala.collection.mutable

import org.apache.spark.util.AccumulatorContext

/**
 * The marks that were planned for the batch of a run which is not committed yet. What their tasks have told so far is of records that
 * wait for it. Only ids: Spark forgets an accumulator when its plan is gone.
 */
private[latency] object OpenPlannings {
  private val plannings = mutable.Map.empty[String, Set[Long]]

  def opened(figures: LatencyAccumulator): Unit = figures.owner.runId.foreach { run =>
    synchronized(plannings(run) = plannings.getOrElse(run, Set.empty) + figures.id)
  }

  /** The execution of these has ended. What was planned and never run is gone with its plan. */
  def closed(ids: Set[Long]): Unit = synchronized {
    plannings.mapValuesInPlace((_, open) =>
      open.filter(id => !ids(id) && AccumulatorContext.get(id).nonEmpty)
    )
  }

  /** A run has ended. */
  def closed(run: String): Unit = synchronized(plannings -= run)

  /** The timestamp of the oldest of those records. */
  def oldest(run: String): Option[Long] = synchronized(plannings.getOrElse(run, Set.empty))
    .flatMap(AccumulatorContext.get).collect { case figures: LatencyAccumulator => figures }
    .flatMap(_.oldest).minOption
}
