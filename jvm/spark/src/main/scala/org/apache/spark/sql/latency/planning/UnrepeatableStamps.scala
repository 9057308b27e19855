package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.SinglePartition
import org.apache.spark.sql.execution.LimitExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.TakeOrderedAndProjectExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.recording.UnrepeatableExec

/**
 * Tells Spark of stamps by which a shuffle deals out rows: another attempt of a task makes other stamps, so its rows may go elsewhere.
 * They do where the stamp is in what the shuffle goes by, as a key made of it is, or a whole row where rows are dealt out in turn. So do
 * those of another plan that goes on with what comes out of this one: in `foreachBatch`, say, or behind a cache.
 *
 * A shuffle that does not go by stamps is left as it is: a lost executor costs no more than the tasks that it ran. So is a query that
 * does not run in batches: no task of it runs again. An adaptive plan comes stage by stage, and a stage does not see what deals out
 * its rows later. There all shuffles of stamps count.
 *
 * Goes last, for it stands between operators that other rules know. Runs in the planning thread, for every plan of the session, and
 * never fails one. A plan without a stamp costs one walk.
 */
private[latency] final case class UnrepeatableStamps(session: SparkSession) extends HarmlessRule {

  override protected def applied(plan: SparkPlan): SparkPlan =
    if (plan.exists(RestampedRows.isStamping) && CurrentQuery.hasBatches(session)) {
      val restamped = new RestampedRows
      val isGivenOut = plan.output.nonEmpty && restamped.of(plan).varyAsRows(plan.output)
      plan match {
        case Last() => told(plan, isGivenOut, restamped)
        case _ if isGivenOut => UnrepeatableExec(told(plan, isRead = false, restamped))
        case _ => told(plan, isRead = false, restamped)
      }
    } else plan

  override protected def failed(failure: Throwable): Unit =
    PlanningFailure.tellOnce("a lost shuffle output may lose records that have a stamp", failure)

  /** @param isRead whether what stands above goes by the stamps of this plan */
  private def told(plan: SparkPlan, isRead: Boolean, restamped: RestampedRows): SparkPlan = {
    val isReadBelow = isRead || dealsByStamps(plan, restamped)
    val isTold = isReadBelow && RestampedRows.isStamping(plan)
    plan.withNewChildren(plan.children.map { child =>
      val below = told(child, isReadBelow, restamped)
      if (isTold && !below.isInstanceOf[UnrepeatableExec]) UnrepeatableExec(below) else below
    })
  }

  private def dealsByStamps(plan: SparkPlan, restamped: RestampedRows): Boolean = plan match {
    case shuffle: ShuffleExchangeLike =>
      val rows = restamped.of(shuffle.child)
      shuffle.outputPartitioning match {
        case one if one == SinglePartition || one.numPartitions == 1 => false
        case keys: Expression => rows.vary(keys)
        case _ => rows.varyAsRows(shuffle.output)
      }
    case _ => false
  }

  /** The ends of a plan above which nothing may come: a stage's, and those which Spark asks for a few rows in a way of their own. */
  private object Last {
    def unapply(plan: SparkPlan): Boolean = plan match {
      case stage if AdaptiveStage.is(stage) => true
      case _: LimitExec | _: TakeOrderedAndProjectExec => true
      case _ => false
    }
  }
}
