package org.apache.spark.sql.latency

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.StreamSourceAwareSparkPlan
import org.apache.spark.sql.execution.datasources.v2.ContinuousScanExec
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.runtime.StreamingExecutionRelation
import org.apache.spark.sql.internal.SQLConf

/** The streams that a query reads. */
private[latency] final class StreamingSources(query: Option[StreamExecution]) extends RecordSources {

  private lazy val relations: Seq[(SparkDataStream, Seq[Attribute])] =
    query.toSeq.flatMap(_.logicalPlan.collect {
      case relation: StreamingExecutionRelation => relation.source -> relation.output
      case relation: StreamingDataSourceV2ScanRelation => relation.stream -> relation.output
    })

  override def of(leaf: SparkPlan): Option[RecordSource] =
    stream(leaf).map(stream => RecordSource(RecordSource.name(stream), ordinal(stream)))

  /** Stateless queries are planned adaptively, and then only a stage ends in an exchange. */
  override def endWith(plan: SparkPlan): Boolean = {
    def isAdaptive = plan.conf.adaptiveExecutionEnabled &&
      plan.conf.getConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED_IN_STATELESS_STREAMING) &&
      !StreamingPlan.isStateful(plan)
    !(plan.isInstanceOf[Exchange] && isAdaptive)
  }

  /** The stream that a leaf reads in this batch. Where there is nothing to read, only its columns tell. */
  private def stream(leaf: SparkPlan): Option[SparkDataStream] = leaf match {
    case scan: ContinuousScanExec => Some(scan.stream)
    case scan: RealTimeStreamScanExec => Some(scan.stream)
    case scan: StreamSourceAwareSparkPlan if scan.getStream.nonEmpty => scan.getStream
    case scan: LocalTableScanExec =>
      val columns = AttributeSet(scan.output)
      relations.collectFirst { case (stream, output) if output.exists(columns.contains) => stream }
    case _ => None
  }

  /** Restarts keep it. */
  private def ordinal(stream: SparkDataStream): Option[Int] =
    Some(relations.map(_._1).distinct.indexWhere(_ eq stream)).filter(_ >= 0)
}
