package org.apache.spark.sql.latency.planning

import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.SystemTimeWatermark
import org.apache.spark.sql.latency.marking.WatermarkIdleTimeout

/**
 * Has the queries of a session looked after if it has an idle timeout, or if one of them has one or a system-time watermark, and reads
 * what the latter goes by. Spark analyzes the writing of a stream before the query starts, in the thread that starts it, so a bad setting
 * fails there. Changes no plan; any other plan costs a look at its root, the writing of a stream two walks.
 */
private[latency] final case class IdleTimeout(session: SparkSession, applications: MarkedApplication.Finder)
    extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case _: WriteToStreamStatement | _: WriteToStream =>
        val settings = LatencyConf(session)
        val isByClock = plan.exists(_.isInstanceOf[SystemTimeWatermark])
        if (isByClock) settings.watermarkInterval: Unit
        // A global view may have been made in another session.
        if (isByClock || settings.watermarkIdleTimeout.nonEmpty || WatermarkIdleTimeout.isIn(plan))
          SystemTimeQueries.listenIn(session, applications)
      case _ =>
    }
    plan
  }
}
