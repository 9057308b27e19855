package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.latency.compat.isContinuous

/**
 * Refuses a system-time watermark in continuous mode before Spark does, whose words name no remedy. Runs in the thread that starts a query,
 * ahead of Spark's own rules. Without state; any other plan costs a look at its root.
 */
private[latency] case object ContinuousMode extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case write: WriteToStreamStatement
          if isContinuous(write) && write.inputQuery.exists(_.isInstanceOf[SystemTimeWatermark]) =>
        throw new IllegalArgumentException(
          "a system-time watermark does not work in continuous mode, where Spark allows no watermark; use another trigger, such as " +
            "processingTime, or leave the watermark out"
        )
      case _ =>
    }
    plan
  }
}
