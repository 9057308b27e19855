package org.apache.spark.sql.latency

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.StreamSourceAwareSparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.ContinuousScanExec
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.runtime.StreamingExecutionRelation

/** The streams that a query reads. */
private[latency] final class StreamingSources(query: Option[StreamExecution])
    extends AdaptiveSparkPlanHelper {

  private lazy val relations: Seq[(SparkDataStream, Seq[Attribute])] =
    query.toSeq.flatMap(_.logicalPlan.collect {
      case relation: StreamingExecutionRelation => relation.source -> relation.output
      case relation: StreamingDataSourceV2ScanRelation => relation.stream -> relation.output
    })

  def areIn(plan: SparkPlan): Boolean = find(plan)(node => of(node).nonEmpty).nonEmpty

  /** The stream that a leaf reads in this batch. Where there is nothing to read, only its columns tell. */
  def of(node: SparkPlan): Option[SparkDataStream] = node match {
    case scan: ContinuousScanExec => Some(scan.stream)
    case scan: RealTimeStreamScanExec => Some(scan.stream)
    case scan: StreamSourceAwareSparkPlan if scan.getStream.nonEmpty => scan.getStream
    case scan: LocalTableScanExec =>
      val columns = AttributeSet(scan.output)
      relations.collectFirst { case (stream, output) if output.exists(columns.contains) => stream }
    case _ => None
  }

  /** Its place among the sources of the query, which restarts keep. */
  def ordinal(stream: SparkDataStream): Option[Int] =
    Some(relations.map(_._1).distinct.indexWhere(_ eq stream)).filter(_ >= 0)
}

private[latency] object StreamingSources {
  private val Kafka = """Kafka\w*\[(?:\w+\[)?([^\[\]]*)\]*""".r.unanchored
  private val Files = """FileStreamSource\[(?:.*/)?([^/\]]+)/*\]""".r
  private val Plumbing = "(MicroBatch|Continuous)?(Stream|Source)(V2)?$|\\$"

  /** `kafka[orders]`, `rate`, `file[events]`, …: sources have no names, so this reads how they describe themselves. */
  def name(stream: SparkDataStream): String = stream.toString match {
    case Kafka(topics) => s"kafka[${topics.take(128)}]"
    case Files(folder) => s"file[${folder.take(128)}]"
    case _ => stream.getClass.getSimpleName match {
        case rate if rate.startsWith("RatePerMicroBatch") => "rate-micro-batch"
        case rate if rate.startsWith("RateStream") => "rate"
        case other => StreamingPlan.hyphenated(other.replaceAll(Plumbing, ""))
      }
  }
}
