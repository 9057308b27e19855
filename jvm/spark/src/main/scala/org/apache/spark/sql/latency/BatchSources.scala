package org.apache.spark.sql.latency

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.execution.CollectLimitExec
import org.apache.spark.sql.execution.CollectTailExec
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.RowDataSourceScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.TakeOrderedAndProjectExec
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.exchange.Exchange

/**
 * What a batch query reads that says when its records happened, which is Kafka. A source that it reads twice is one.
 *
 * What a cached plan reads is none of its sources: that was planned before, and the first of many queries happens to run it.
 */
private[latency] final class BatchSources(execution: QueryExecution) extends RecordSources {

  private lazy val relations: Seq[AnyRef] = execution.withCachedData.collectWithSubqueries {
    case read: LogicalRelation => read.relation
    case read: DataSourceV2Relation => read.table
  }.filter(relation => RecordSource.hasTimestamp(RecordSource.name(relation))).distinct

  override def of(leaf: SparkPlan): Option[RecordSource] = leaf match {
    case scan: RowDataSourceScanExec => source(scan.relation, scan.relation)
    case scan: BatchScanExec => source(scan.table, scan.batch)
    case _ => None
  }

  /**
   * A subquery and a cached plan give other columns than the query. Where only some rows are taken, Spark reads no more than it
   * needs; under a mark it would read all.
   */
  override def endWith(plan: SparkPlan): Boolean = plan match {
    case _: CollectLimitExec | _: CollectTailExec | _: TakeOrderedAndProjectExec => false
    case _: Exchange if plan.conf.adaptiveExecutionEnabled => false
    case _ => columns(plan) == columns(execution.sparkPlan)
  }

  /** What `plan` reads that does not say when its records happened. */
  def withoutTimestamp(plan: SparkPlan): Seq[String] = plan.collectLeaves().collect {
    case scan: FileSourceScanExec => scan.relation.toString
    case scan: RowDataSourceScanExec => RecordSource.name(scan.relation)
    case scan: BatchScanExec => RecordSource.name(scan.scan)
  }.filterNot(RecordSource.hasTimestamp)

  private def source(relation: AnyRef, described: => AnyRef): Option[RecordSource] =
    Some(relations.indexOf(relation)).filter(_ >= 0).map(i =>
      RecordSource(RecordSource.name(described), Some(i))
    )

  private def columns(plan: SparkPlan): Seq[ExprId] = Written.orAll(plan).output.map(_.exprId)
}
