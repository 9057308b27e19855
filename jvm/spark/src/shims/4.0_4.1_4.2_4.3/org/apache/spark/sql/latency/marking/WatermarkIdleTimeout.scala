package org.apache.spark.sql.latency.marking

import java.util.UUID

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.IntervalText
import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * How long the source of one watermark may be silent before it holds the others back no longer. It is a tag on Spark's own node, so no
 * rule sees it, and the plan stays as it was.
 *
 * Without state; called in the user's thread or by an analyzer, for two walks over the plan.
 */
private[latency] object WatermarkIdleTimeout {
  private val Tag = TreeNodeTag[Long]("sparklatency.idle.timeout")

  def of(watermark: EventTimeWatermark): Option[Long] = watermark.getTagValue(Tag)

  def isIn(plan: LogicalPlan): Boolean = plan.exists {
    case watermark: EventTimeWatermark => of(watermark).nonEmpty
    case _ => false
  }

  /**
   * `plan` with this timeout at all its ordinary watermarks; `plan` itself if it is not a stream.
   *
   * @throws IllegalArgumentException if `timeout` is no interval from a millisecond to a year, or `plan` has no ordinary
   *                                  watermark
   */
  def on(plan: LogicalPlan, timeout: String): LogicalPlan = {
    val ms = read(timeout)
    if (!plan.isStreaming) plan
    else {
      val systemTime = plan.collect { case SystemTimeWatermark(id, _) => id }.toSet
      val all = plan.collect { case watermark: EventTimeWatermark => watermark }
      val ordinary = all.map(_.nodeId).filterNot(systemTime).distinct
      if (all.isEmpty) fail("there is no watermark here", "call withWatermark before")
      if (ordinary.isEmpty) fail(
        s"the watermark on '${Readable.name(all.head.eventTime.name)}' goes by the clock, so its source is never idle",
        "leave the timeout out"
      )
      // Another id, for a node that is equal to the one before would be taken for the same.
      val ids = ordinary.map(_ -> UUID.randomUUID()).toMap
      AnalysisHelper.allowInvokingTransformsInAnalyzer {
        plan.transformDown {
          case watermark: EventTimeWatermark if ids.contains(watermark.nodeId) =>
            val timed = watermark.copy(nodeId = ids(watermark.nodeId))
            timed.copyTagsFrom(watermark)
            timed.setTagValue(Tag, ms)
            timed
        }
      }
    }
  }

  private def read(timeout: String): Long = {
    def named = s"'${Readable.cut(String.valueOf(timeout))}'"
    val remedy = "give one such as '5 minutes'"
    IntervalText.read(timeout).filterNot(IntervalText.isNegative).map(IntervalText.millis) match {
      case Some(Some(ms)) if 0 < ms && ms <= IntervalText.LongestMs => ms
      case None | Some(Some(0)) => fail(s"$named is not an interval of at least a millisecond", remedy)
      case _ =>
        fail(s"$named is longer than a year: a silent source would hold the others back as long", remedy)
    }
  }

  private def fail(problem: String, remedy: String): Nothing =
    throw new IllegalArgumentException(s"idle timeout: $problem; $remedy")
}
