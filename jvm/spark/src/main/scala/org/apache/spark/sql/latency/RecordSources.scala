package org.apache.spark.sql.latency

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

/** What a query reads records from. */
private[latency] trait RecordSources extends AdaptiveSparkPlanHelper {

  /** The source that a leaf reads, if it is one of these. */
  def of(leaf: SparkPlan): Option[RecordSource]

  /** Whether the query's rows come out where `plan` ends: an adaptive query is planned in stages, a subquery apart. */
  def endWith(plan: SparkPlan): Boolean

  def areIn(plan: SparkPlan): Boolean = find(plan)(of(_).nonEmpty).nonEmpty
}

/** @param ordinal its place among the sources of the query, if that is known */
private[latency] final case class RecordSource(name: String, ordinal: Option[Int])

private[latency] object RecordSource {
  private val Kafka = """Kafka\w*(?:\[|\(strategy=)(?:\w+\[)?([^\[\]]*)\]*""".r.unanchored
  private val Files = """FileStreamSource\[(?:.*/)?([^/\]]+)/*\]""".r
  private val Plumbing = "(MicroBatch|Continuous)?(Stream|Source|Relation|Scan)(V2)?$|\\$"

  /** `kafka[orders]`, `rate`, `file[events]`, …: sources have no names, so this reads how they describe themselves. */
  def name(described: AnyRef): String = described.toString match {
    case Kafka(topics) => s"kafka[${topics.take(128)}]"
    case Files(folder) => s"file[${folder.take(128)}]"
    case _ => described.getClass.getSimpleName match {
        case rate if rate.startsWith("RatePerMicroBatch") => "rate-micro-batch"
        case rate if rate.startsWith("RateStream") => "rate"
        case other => StreamingPlan.hyphenated(other.replaceAll(Plumbing, ""))
      }
  }

  /** Whether the column `timestamp` of the source with this name says when each record happened. */
  def hasTimestamp(name: String): Boolean = name.startsWith("kafka") || name.startsWith("rate")
}
