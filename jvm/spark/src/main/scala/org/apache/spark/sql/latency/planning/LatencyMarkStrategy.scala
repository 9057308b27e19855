package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.LatencyMark
import org.apache.spark.sql.latency.recording.OfPartition
import org.apache.spark.sql.latency.recording.RecordE2ELatency

/**
 * Plans a mark as Spark's own filter with a condition that is always true. Real-time mode would refuse an operator of ours.
 * Such an operator would also need its own code generation, and it would hide the child's partitioning and ordering unless it
 * passed them on.
 *
 * Runs in the planning thread, for each batch anew. Costs one new accumulator for each mark.
 */
final case class LatencyMarkStrategy(applications: MarkedApplication.Finder) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case LatencyMark(node, timestamp, _, child) =>
      val session = SparkSession.active
      val figures = new MarkAccumulators(session, applications.of(session.sparkContext)).make(node)
      val record = RecordE2ELatency(timestamp, child.output, node)(figures)
      FilterExec(OfPartition(record), planLater(child)) :: Nil
    case _ => Nil
  }
}
