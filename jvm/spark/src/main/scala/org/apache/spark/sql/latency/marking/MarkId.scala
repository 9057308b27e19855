package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.ExpressionWithRandomSeed
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef
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
   * reading gives a watermark another id, a random column another seed, and a common table expression another number.
   *
   * @param definitions the common table expressions of the statement, by number
   */
  def ofHint(mark: LatencyMark, definitions: Map[Long, LogicalPlan]): MarkId =
    OfHint(AnalysisHelper.allowInvokingTransformsInAnalyzer(read(mark, definitions)))

  /** What defines an expression stands in its place. One that reads itself, or is defined elsewhere, stays as it is. */
  private def read(plan: LogicalPlan, definitions: Map[Long, LogicalPlan]): LogicalPlan =
    plan.canonicalized.transformUpWithSubqueries {
      case watermark: EventTimeWatermark => withoutId(watermark)
      case reference: CTERelationRef if definitions.contains(reference.cteId) =>
        read(definitions(reference.cteId), definitions - reference.cteId)
    }.transformAllExpressionsWithSubqueries { case random: ExpressionWithRandomSeed => random.withNewSeed(0) }
}
