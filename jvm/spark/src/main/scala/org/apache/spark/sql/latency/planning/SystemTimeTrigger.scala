package org.apache.spark.sql.latency.planning

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
 * Moves the system-time watermarks of a query on, before Spark decides whether there is a batch to run. Spark then logs the new
 * watermark with the batch and runs it, also without data, where an operator goes by the watermark, be its state empty or not. So a
 * batch that is replayed has the watermark that it had.
 *
 * Everything here runs in the query's own thread, between two batches. A trigger costs one reading of the clock; a move costs
 * a walk over the last plan, and the batch that Spark then runs.
 *
 * @param pace the query's own trigger
 */
private[latency] final class SystemTimeTrigger(
    pace: TriggerExecutor,
    query: MicroBatchExecution,
    watermarks: Seq[EventTimeWatermark],
    intervalMs: Long
) extends TriggerExecutor {
  private val turns = new Turns(intervalMs)

  /** Read by the same thread, when it plans. */
  private[planning] var timeMs: Option[Long] = None

  override def setNextBatch(context: MicroBatchExecutionContext): Unit = pace.setNextBatch(context)

  override def execute(runBatch: MicroBatchExecutionContext => Boolean): Unit = pace.execute { context =>
    moveOn(context)
    runBatch(context)
  }

  private def moveOn(context: MicroBatchExecutionContext): Unit = {
    val now = WallClock.millis()
    // A batch that was begun before a restart has its watermark, and runs with no other.
    if (!context.isCurrentBatchConstructed && turns.isDue(now)) {
      timeMs = Some(timeMs.fold(now)(_.max(now)))
      val tracker = watermarkTracker(query)
      val before = tracker.currentWatermark
      watermarks.foreach(watermark => tracker.updateWatermark(SystemTime.told(watermark, now)))
      if (tracker.currentWatermark > before) tell(context)
    }
  }

  private def tell(context: MicroBatchExecutionContext): Unit = context.previousContext match {
    // At each trigger without data Spark thinks the next batch through, and holds that its watermark stays the same.
    case Some(previous) => previous.executionPlan.watermarkPropagator.purge(context.batchId)
    // After a restart Spark has no last plan to ask, so it would wait for data, whatever is open in the state.
    case None if context.batchId > 0 => askOnce(context)
    case None => // nothing has been read yet, so nothing is open
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
