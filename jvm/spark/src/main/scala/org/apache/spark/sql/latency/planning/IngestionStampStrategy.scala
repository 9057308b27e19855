package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.latency.marking.IngestionStamp
import org.apache.spark.sql.latency.marking.KeptTimestamps

/**
 * Plans a stamp as a projection, which every mode and every check of Spark's knows, and a reader that does nothing as nothing. Runs in
 * the planning thread, for each batch anew.
 */
private[latency] object IngestionStampStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case stamp: IngestionStamp => over(stamp, planLater(stamp.child)) :: Nil
    case KeptTimestamps(_, child, _) => planLater(child) :: Nil
    case _ => Nil
  }

  private[planning] def over(stamp: IngestionStamp, child: SparkPlan): SparkPlan = {
    val everyRow = !CurrentQuery.session.forall(CurrentQuery.hasBatches)
    StampsAtSources.onTop(child, stamp.stamp, everyRow)
  }
}
