package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.latency.compat.withoutId

/** Equal for marks that are one: for one that a plan reads twice. Immutable. */
sealed trait MarkId

private[marking] object MarkId {
  private final case class OfCall(id: ExprId) extends MarkId
  private final case class OfHint(read: LogicalPlan) extends MarkId

  /** Another one at each call. */
  def ofCall: MarkId = OfCall(NamedExpression.newExprId)

  /**
   * The same for what says the same of the same records, as it was when the hint was read: a batch of a stream has other leaves. Each
   * reading gives a watermark another id.
   */
  def ofHint(mark: LatencyMark): MarkId = OfHint(AnalysisHelper.allowInvokingTransformsInAnalyzer {
    mark.canonicalized.transformDown { case watermark: EventTimeWatermark => withoutId(watermark) }
  })
}
