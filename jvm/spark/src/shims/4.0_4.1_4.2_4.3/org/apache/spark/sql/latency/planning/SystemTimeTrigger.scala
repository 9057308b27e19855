package org.apache.spark.sql.latency.planning

import java.util.UUID

import io.sparklatency.time.Turns
import io.sparklatency.time.WallClock
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.compat.MicroBatchExecution
import org.apache.spark.sql.latency.compat.MicroBatchExecutionContext
import org.apache.spark.sql.latency.compat.OffsetSeqMetadataBase
import org.apache.spark.sql.latency.compat.TriggerExecutor
import org.apache.spark.sql.latency.compat.WatermarkPropagator
import org.apache.spark.sql.latency.compat.sessionOf
import org.apache.spark.sql.latency.compat.watermarkTracker
import org.apache.spark.sql.streaming.OutputMode

/**
 * Moves on the system-time watermarks of a query, and those of idle sources, before Spark decides whether there is a batch to run.
 * Spark then logs the new watermark with the batch and runs it, also without data, where an operator goes by the watermark, be its
 * state empty or not. So a batch that is replayed has the watermark that it had.
 *
 * Everything here but [[idleSince]] runs in the query's own thread, between two batches. A trigger costs one reading of the clock; a
 * move costs a walk over the last plan, and the batch that Spark then runs.
 *
 * @param pace       the query's own trigger
 * @param watermarks those that go by the clock
 * @param idle       looks after the others, if they are not to wait for each other for ever
 */
private[latency] final class SystemTimeTrigger(
    pace: TriggerExecutor,
    query: MicroBatchExecution,
    watermarks: Seq[EventTimeWatermark],
    intervalMs: Long,
    idle: Option[IdleSources]
) extends TriggerExecutor {
  private val turns = new Turns(intervalMs)

  /** Else Spark never asks, and what is put in the place of its last plan would stay: it takes the first batch for a later one then. */
  private lazy val runsWithoutData =
    sessionOf(query).sessionState.conf.streamingNoDataMicroBatchesEnabled
  private lazy val closes = KeptState.closesIn(query.logicalPlan, query.outputMode)

  /** Read by the same thread, when it plans. */
  private[planning] var timeMs: Option[Long] = None

  /** Whether the watermark of the batch before, and that of the next one, are one of these. */
  private var held = Seq(false, false)
  private var noted = -1L

  override def setNextBatch(context: MicroBatchExecutionContext): Unit = pace.setNextBatch(context)

  override def execute(runBatch: MicroBatchExecutionContext => Boolean): Unit = pace.execute { context =>
    // A batch that was begun before a restart has its watermark, and runs with no other.
    if (!context.isCurrentBatchConstructed) moveOn(context)
    idle.fold(runBatch(context))(_.looking(context)(runBatch(context)))
  }

  /** Whether the watermark of the batch before the one that runs was one of those that go by the clock. Read when that is planned. */
  private[planning] def heldBefore: Boolean = held(0)

  /** Which watermarks were idle when this batch began, and since when. Any thread may ask. */
  def idleSince(batch: Long): Map[UUID, Long] = idle.fold(Map.empty[UUID, Long])(_.sinceOf(batch))

  private def moveOn(context: MicroBatchExecutionContext): Unit = {
    val now = WallClock.millis()
    val tracker = watermarkTracker(query)
    val before = tracker.currentWatermark
    if (turns.isDue(now)) {
      timeMs = Some(timeMs.fold(now)(_.max(now)))
      watermarks.foreach(watermark => tracker.updateWatermark(SystemTime.told(watermark, now)))
    }
    idle.foreach(_.letOthersGoOn(tracker, context.batchId))
    note(context.batchId, tracker.currentWatermark)
    if (tracker.currentWatermark > before) tell(context)
  }

  private def note(batch: Long, watermarkMs: Long): Unit = {
    val isHeld = timeMs.exists(time =>
      watermarks.exists(watermark => time - EventTimeWatermark.getDelayMs(watermark.delay) == watermarkMs)
    )
    held = if (batch == noted) held.updated(1, isHeld) else Seq(held(1), isHeld)
    noted = batch
  }

  private def tell(context: MicroBatchExecutionContext): Unit = context.previousContext match {
    // At each trigger without data Spark thinks the next batch through, and holds that its watermark stays the same.
    case Some(previous) => previous.executionPlan.watermarkPropagator.purge(context.batchId)
    // After a restart Spark has no last plan to ask, so it would wait for data, whatever is open in the state.
    case None if context.batchId > 0 && closes && runsWithoutData => askOnce(context)
    case None => // nothing has been read yet, so nothing is open, or nothing ever closes, or Spark runs no batch without data
  }

  /** Puts in the place of the last plan one that asks for a batch, and takes it away when it has been asked. */
  private def askOnce(context: MicroBatchExecutionContext): Unit = {
    val asks = context.getNextContext()
    asks.executionPlan = new IncrementalExecution(
      sessionOf(query),
      query.logicalPlan,
      OutputMode.Append,
      "",
      query.id,
      query.runId,
      context.batchId,
      None,
      context.offsetSeqMetadata,
      WatermarkPropagator.noop(),
      isFirstBatch = true
    ) {
      override def shouldRunAnotherBatch(metadata: OffsetSeqMetadataBase): Boolean = {
        context.previousContext = None
        true
      }
    }
    context.previousContext = Some(asks)
  }
}
