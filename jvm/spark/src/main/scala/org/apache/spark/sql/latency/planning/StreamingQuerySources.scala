package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.latency.compat.ContinuousScanExec
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.RealTimeStreamScanExec
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.compat.StreamingDataSourceV2ScanRelation
import org.apache.spark.sql.latency.compat.StreamingExecutionRelation
import org.apache.spark.sql.latency.compat.plansStatelessAdaptively
import org.apache.spark.sql.latency.compat.streamOf
import org.apache.spark.sql.latency.compat.watermarkId

/**
 * The sources of a streaming query. A source has the same ordinal in each batch, and after a restart.
 *
 * Costs one walk over the query's logical plan when first asked, and only looks at operators after that. One thread uses it:
 * the one that plans a batch, or the listener's when the batch has ended.
 */
private[latency] final class StreamingQuerySources(query: Option[StreamExecution]) extends RecordSources {

  private lazy val relations =
    query.toSeq.flatMap(query => StreamingQuerySources.relationsIn(query.logicalPlan))

  /** The ordinals of the sources that this part of the query's logical plan reads. */
  def ordinalsIn(part: LogicalPlan): Set[Int] =
    StreamingQuerySources.relationsIn(part).flatMap { case (stream, _) => ordinal(stream) }.toSet

  /** The name of the first source below a watermark. */
  def nameBelow(watermark: EventTimeWatermarkExec): Option[String] = for {
    plan <- query.map(_.logicalPlan)
    id = watermarkId(watermark)
    below <- plan.collectFirst { case node: EventTimeWatermark if watermarkId(node) == id => node }
    (stream, _) <- StreamingQuerySources.relationsIn(below).headOption
  } yield RecordSource.name(stream)

  override def of(leaf: SparkPlan): Option[RecordSource] =
    stream(leaf).map(stream => RecordSource(RecordSource.name(stream), ordinal(stream)))

  /** A stateless query is planned adaptively. There, a plan that ends in an exchange is only a stage. */
  override def endWith(plan: SparkPlan): Boolean = {
    def isAdaptive = plansStatelessAdaptively(plan.conf) && !StatefulOperators.isStateful(plan)
    !(plan.isInstanceOf[Exchange] && isAdaptive)
  }

  /** The stream that a leaf reads in this batch. Without data the leaf is a local table: its columns identify the stream. */
  private def stream(leaf: SparkPlan): Option[SparkDataStream] = leaf match {
    case scan: ContinuousScanExec => Some(scan.stream)
    case scan: RealTimeStreamScanExec => Some(scan.stream)
    case scan => streamOf(scan, query).orElse(streamWithoutData(scan))
  }

  private def streamWithoutData(leaf: SparkPlan): Option[SparkDataStream] = leaf match {
    case scan: LocalTableScanExec =>
      val columns = AttributeSet(scan.output)
      relations.collectFirst { case (stream, output) if output.exists(columns.contains) => stream }
    case _ => None
  }

  /** Its place in the query's logical plan, which is the same after a restart. */
  private def ordinal(stream: SparkDataStream): Option[Int] =
    Some(relations.map(_._1).distinct.indexWhere(_ eq stream)).filter(_ >= 0)
}

private[planning] object StreamingQuerySources {

  /** The streams that this part of a query's logical plan reads, with the columns of each. */
  def relationsIn(part: LogicalPlan): Seq[(SparkDataStream, Seq[Attribute])] = part.collect {
    case relation: StreamingExecutionRelation => relation.source -> relation.output
    case relation: StreamingDataSourceV2ScanRelation => relation.stream -> relation.output
  }
}
