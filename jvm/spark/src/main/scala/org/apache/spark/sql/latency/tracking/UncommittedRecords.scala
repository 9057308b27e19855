package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import org.apache.spark.sql.latency.recording.LatencyAccumulator
import org.apache.spark.util.AccumulatorContext

/**
 * Knows what waits for a commit, and since when: the marks that were planned for the batch of a run which is not committed
 * yet. What the ended tasks of these marks have recorded so far waits for that commit.
 *
 * Keeps one number for each mark of an open batch, and no accumulator: Spark forgets that when its plan is gone. Thread-safe:
 * planning threads open, the listener's thread closes, and whoever takes a snapshot of the figures asks for the oldest.
 */
private[latency] final class UncommittedRecords {
  private val plannings = mutable.Map.empty[String, Set[Long]]

  def opened(figures: LatencyAccumulator): Unit = figures.owner.runId.foreach { run =>
    synchronized(plannings(run) = plannings.getOrElse(run, Set.empty) + figures.id)
  }

  /**
   * The execution of these marks has ended. Also forgets marks that were planned and never run: they are gone with their
   * plan.
   */
  def closed(ids: Set[Long]): Unit = synchronized {
    plannings.mapValuesInPlace((_, open) =>
      open.filter(id => !ids(id) && AccumulatorContext.get(id).nonEmpty)
    )
    ()
  }

  /** A run has ended. */
  def closed(run: String): Unit = synchronized(plannings -= run)

  /** The timestamp of the oldest of those records. Looks at each partition that has come in for the open batch. */
  def oldest(run: String): Option[Long] = synchronized(plannings.getOrElse(run, Set.empty))
    .flatMap(AccumulatorContext.get).collect { case figures: LatencyAccumulator => figures }
    .flatMap(_.oldest).minOption
}
