package org.apache.spark.sql.latency.planning

import java.util.Locale

import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.latency.compat.SparkSession

/**
 * Refuses what moves a watermark without a record, in words: a query of Spark 3.5 lets nobody see its batches begin. Else a hint would be
 * dropped, and a setting would do nothing. Runs in the thread that analyzes, for one walk over the plan. Without state.
 */
private[latency] final case class NewerWatermarks(session: SparkSession) extends Rule[LogicalPlan] {
  import NewerWatermarks._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case UnresolvedHint(name, _, _) => Hints.get(name.toUpperCase(Locale.ROOT)).foreach(refuse)
      case _: WriteToStreamStatement | _: WriteToStream
          if LatencyConf(session).watermarkIdleTimeout.nonEmpty =>
        refuse(s"the idle timeout of ${LatencyConf.WatermarkIdleTimeout.name}")
      case _ =>
    }
    plan
  }
}

private[latency] object NewerWatermarks {
  val SystemTime = "a system-time watermark"
  val Timeout = "an idle timeout"

  private val Hints = Map("SYSTEM_TIME_WATERMARK" -> SystemTime, "IDLE_TIMEOUT" -> Timeout)

  def refuse(what: String): Nothing =
    throw new IllegalArgumentException(s"$what needs Spark 4.0 or newer, and this is Spark 3.5; leave it out")
}
