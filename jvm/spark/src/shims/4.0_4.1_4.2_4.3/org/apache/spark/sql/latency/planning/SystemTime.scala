package org.apache.spark.sql.latency.planning

import java.util.Collections
import java.util.UUID
import java.util.WeakHashMap

import io.sparklatency.time.WallClock
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.compat.MicroBatchExecution
import org.apache.spark.sql.latency.compat.ProcessingTimeExecutor
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * The time by which a query's system-time watermarks go in the batch that is planned. A query with a trigger of its own pace
 * is told by [[SystemTimeTrigger]] before each batch. One that ends when all is read (`Trigger.AvailableNow`) goes by the time
 * at which it began, or it would never end. Where we could not get between Spark and its trigger, only batches move time on.
 *
 * Called in the planning thread; thread-safe. Costs a look-up for each watermark of a batch.
 */
private[planning] object SystemTime {
  private val begun = Collections.synchronizedMap(new WeakHashMap[StreamExecution, java.lang.Long])

  def watermark(
      query: Option[StreamExecution],
      nodeId: UUID,
      eventTime: Attribute,
      delay: CalendarInterval,
      child: SparkPlan
  ): SystemTimeWatermarkExec = {
    def of(timeMs: Option[Long], reached: Boolean) =
      new SystemTimeWatermarkExec(nodeId, eventTime, delay, child)(timeMs, reached)
    query match {
      case Some(running: MicroBatchExecution) => running.triggerExecutor match {
          case told: SystemTimeTrigger => of(told.timeMs, reached = false)
          case _: ProcessingTimeExecutor => of(Some(wholeSecond), reached = true)
          case _ => of(Some(beginningOf(running)), reached = true)
        }
      case _ => of(None, reached = false)
    }
  }

  /** Of the same watermark, with the time `nowMs` for Spark's tracker. */
  def told(watermark: EventTimeWatermark, nowMs: Long): SparkPlan =
    new SystemTimeWatermarkExec(watermark.nodeId, watermark.eventTime, watermark.delay, Nothing)(
      Some(nowMs),
      reached = true
    )

  private def beginningOf(query: StreamExecution): Long =
    begun.computeIfAbsent(query, _ => WallClock.millis())

  /** Coarse, or each empty batch would ask for the next one. */
  private def wholeSecond: Long = WallClock.millis() / 1000 * 1000
}
