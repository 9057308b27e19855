package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.latency.marking.LatencyMark
import org.apache.spark.sql.latency.recording.OfPartition
import org.apache.spark.sql.latency.recording.RecordE2ELatency

/**
 * Plans a mark as a filter, of which [[MarksAsOperators]] makes an operator of our own.
 *
 * Runs in the planning thread, for each batch anew. Costs one new accumulator for each mark.
 */
final case class LatencyMarkStrategy(applications: MarkedApplication.Finder) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case mark: LatencyMark => over(mark, planLater(mark.child)) :: Nil
    case _ => Nil
  }

  /** @param child what its child, or something in its place, is planned as */
  private[planning] def over(mark: LatencyMark, child: SparkPlan): SparkPlan =
    recorded(mark, child).getOrElse(child)

  /** None where the query does not record the node, where its session stops, or where we are broken: then the query runs without it. */
  private def recorded(mark: LatencyMark, child: SparkPlan): Option[SparkPlan] =
    try CurrentQuery.session.flatMap { session =>
        val application = applications.of(session.sparkContext)
        // In a session that has the jar without its rules, a mark that is not recorded is still here.
        Option.when(new PlannedQuery(session, application).isRecorded(mark)) {
          val figures = new MarkAccumulators(session, application).make(mark.node)
          val record = RecordE2ELatency(mark.timestamp, mark.child.output, mark.node)(figures)
          FilterExec(OfPartition(record), child)
        }
      }
    catch {
      // A bad setting is the user's mistake, and stops the query.
      case missing: LinkageError =>
        PlanningFailure.tellOnce(s"node '${mark.node}' is not measured", missing)
        None
    }
}
