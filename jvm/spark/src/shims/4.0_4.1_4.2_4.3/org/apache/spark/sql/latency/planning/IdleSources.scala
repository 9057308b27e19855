package org.apache.spark.sql.latency.planning

import java.util.UUID

import io.sparklatency.figures.WatermarkPolicy
import io.sparklatency.time.Silence
import io.sparklatency.time.WallClock
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.MicroBatchExecutionContext
import org.apache.spark.sql.latency.compat.WatermarkTracker

/**
 * Which ordinary watermarks of a query have sources that have been silent for so long that they no longer hold the others
 * back. Such a watermark goes along with the others, as if a record had had that timestamp. When its source speaks it counts
 * again, and like all of Spark's watermarks it does not go back.
 *
 * A source speaks when a record reaches its watermark, so one whose records are all filtered out below is silent. A look tells
 * nothing while the source has more than was admitted.
 *
 * One for each run of a query. Called in the query's own thread, between two batches, but for [[sinceOf]]. A trigger costs a
 * look at its offsets, a batch a walk over its plan.
 *
 * @param watermarks as the query's logical plan has them, with its sources below
 * @param timeoutMs  how long each may be silent
 * @param unlimited  the sources of which a batch reads all that there is
 */
private[planning] final class IdleSources(
    watermarks: Seq[EventTimeWatermark],
    timeoutMs: Map[UUID, Long],
    unlimited: Set[SparkDataStream]
) extends AdaptiveSparkPlanHelper {
  private val silences = timeoutMs.map { case (id, ms) => id -> new Silence(ms * 1000) }

  /** A self-join has the same watermark twice. */
  private val sources: Map[UUID, Seq[SparkDataStream]] =
    watermarks.groupMap(_.nodeId)(StreamingQuerySources.relationsIn(_)).map { case (id, relations) =>
      id -> relations.flatten.map(_.stream)
    }

  /** For the last batches: who asks does so on another thread, and later. */
  @volatile private var idle = Map.empty[Long, Map[UUID, Long]]

  /** Which watermarks were idle when this batch began, and since when. Any thread may ask. */
  def sinceOf(batch: Long): Map[UUID, Long] = idle.getOrElse(batch, Map.empty)

  /** Takes the watermarks of idle sources to where the others are, ahead of this batch. */
  def letOthersGoOn(tracker: WatermarkTracker, batch: Long): Unit = {
    val since = silences.flatMap { case (id, silence) => silence.idleSinceMs.map(id -> _) }
    idle = idle.removed(batch - IdleSources.Kept).updated(batch, since)
    if (since.nonEmpty) {
      val known = tracker.watermarkMap.map { case (id, ms) => id -> ms.getOrElse(0L) }
      val (ids, times) = known.toSeq.unzip
      WatermarkPolicy.chosen(times, ids.map(since.contains), isMax = false).foreach { ms =>
        for (watermark <- watermarks if since.contains(watermark.nodeId) && known(watermark.nodeId) < ms)
          tracker.updateWatermark(SystemTime.told(
            watermark,
            ms + EventTimeWatermark.getDelayMs(watermark.delay)
          ))
      }
    }
  }

  /** Has Spark look at its sources, and run the batch if there is one, and takes note of what was found. */
  def looking(context: MicroBatchExecutionContext)(run: => Boolean): Boolean = {
    val looks = !context.isCurrentBatchConstructed // else the batch is one of a run before, with its offsets
    val (atMicros, atMs) = (WallClock.steadyMicros(), WallClock.millis())
    val goesOn = run
    val hadBatch = context.isCurrentBatchConstructed
    val spoken = if (hadBatch) speakers(context) else Set.empty[UUID]
    val untilMicros = if (hadBatch) WallClock.steadyMicros() else atMicros
    silences.foreach { case (id, silence) =>
      def isSilent = looks && sources(id).forall(isReadUp(_, context))
      val found = if (spoken(id)) Some(true) else Option.when(isSilent)(false)
      silence.look(atMicros, atMs, found, untilMicros)
    }
    goesOn
  }

  /** Whether all that the source had is in the batch, or in one before. Not every source tells how much it has. */
  private def isReadUp(source: SparkDataStream, context: MicroBatchExecutionContext): Boolean = {
    val end = context.endOffsets.get(source)
    context.latestOffsets.get(source) match {
      case Some(latest) => end.contains(latest)
      case None => unlimited(source) || end == context.startOffsets.get(source)
    }
  }

  private def speakers(context: MicroBatchExecutionContext): Set[UUID] =
    collect(context.executionPlan.executedPlan) {
      case watermark: EventTimeWatermarkExec if watermark.eventTimeStats.value.count > 0 => watermark.nodeId
    }.toSet
}

private object IdleSources {

  /** So many batches of a query end, at most, before the listener hears of the first. */
  private val Kept = 100L
}
