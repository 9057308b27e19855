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
 *
 * @param isOfBatch whether the plan is that of the batch itself. An action of foreachBatch has the columns of sources too, and reads none
 */
private[latency] final class StreamingQuerySources(query: Option[StreamExecution], isOfBatch: Boolean = true)
    extends RecordSources {

  private lazy val relations =
    query.toSeq.flatMap(query => StreamingQuerySources.relationsIn(query.logicalPlan))

  /** The ordinals of the sources that this part of the query's logical plan reads. */
  def ordinalsIn(part: LogicalPlan): Set[Int] =
    StreamingQuerySources.relationsIn(part).flatMap(relation => ordinal(relation.stream)).toSet

  /** The name of the first source below a watermark. */
  def nameBelow(watermark: EventTimeWatermarkExec): Option[String] = for {
    plan <- query.map(_.logicalPlan)
    id = watermarkId(watermark)
    below <- plan.collectFirst { case node: EventTimeWatermark if watermarkId(node) == id => node }
    relation <- StreamingQuerySources.relationsIn(below).headOption
  } yield relation.name

  override def of(leaf: SparkPlan): Option[RecordSource] =
    stream(leaf).map { stream =>
      val known = relations.find(_.stream eq stream)
      RecordSource(known.fold(RecordSource.name(stream))(_.name), ordinal(stream))
    }

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
    case scan: LocalTableScanExec if isOfBatch =>
      val columns = AttributeSet(scan.output)
      relations.find(_.output.exists(columns.contains)).map(_.stream)
    case _ => None
  }

  /** Its place in the query's logical plan, which is the same after a restart. */
  private def ordinal(stream: SparkDataStream): Option[Int] =
    Some(relations.map(_.stream).distinct.indexWhere(_ eq stream)).filter(_ >= 0)
}

private[latency] object StreamingQuerySources {

  /** A stream that a query's logical plan reads, as its node is named, and its columns. */
  final case class Relation(stream: SparkDataStream, name: String, output: Seq[Attribute])

  def relationsIn(part: LogicalPlan): Seq[Relation] = part.collect {
    case read: StreamingExecutionRelation =>
      Relation(read.source, RecordSource.name(read.source), read.output)
    case read: StreamingDataSourceV2ScanRelation =>
      Relation(read.stream, RecordSource.name(read.stream, read.scan), read.output)
  }
}
