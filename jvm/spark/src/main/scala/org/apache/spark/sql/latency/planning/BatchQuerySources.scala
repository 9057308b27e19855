package org.apache.spark.sql.latency.planning

import org.apache.hadoop.fs.Path
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

/**
 * The sources of a batch query that have a record timestamp. Those are Kafka's. A source that is read twice counts as one.
 *
 * What a cached plan reads is not a source of this query. It was planned earlier, and whichever query comes first runs it.
 *
 * Costs one walk over the logical plan when first asked, and only looks at operators after that. Used by the one thread that
 * plans the query.
 */
private[latency] final class BatchQuerySources(execution: QueryExecution) extends RecordSources {

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
   * A subquery and a cached plan have other output columns than the query. If a query takes only some rows, Spark reads no more
   * than it needs; with a mark at the end it would read all.
   */
  override def endWith(plan: SparkPlan): Boolean = plan match {
    case _: CollectLimitExec | _: CollectTailExec | _: TakeOrderedAndProjectExec => false
    case stage if AdaptiveStage.is(stage) => false
    case _ => columns(plan) == columns(execution.sparkPlan) && isWhole(plan)
  }

  /**
   * Where Spark does not plan adaptively, dynamic pruning has one side of a join planned by itself. Its columns may be all that the query
   * gives out.
   */
  private def isWhole(plan: SparkPlan): Boolean =
    plan.conf.adaptiveExecutionEnabled ||
      plan.collectLeaves().size == execution.sparkPlan.collectLeaves().size

  /** What kinds of sources in `plan` have no record timestamp. What Delta reads of its own log is none of a user's. */
  def withoutTimestamp(plan: SparkPlan): Seq[String] = plan.collectLeaves().collect {
    case scan: FileSourceScanExec if !scan.relation.location.rootPaths.exists(isOfLog) =>
      scan.relation.toString
    case scan: RowDataSourceScanExec => RecordSource.name(scan.relation)
    case scan: BatchScanExec => RecordSource.name(scan.scan)
  }.filterNot(RecordSource.hasTimestamp).map(RecordSource.kind)

  private def isOfLog(path: Path): Boolean = path.toUri.getPath.contains("/_delta_log/")

  private def source(relation: AnyRef, described: => AnyRef): Option[RecordSource] =
    Some(relations.indexOf(relation)).filter(_ >= 0).map(i =>
      RecordSource(RecordSource.name(described), Some(i))
    )

  private def columns(plan: SparkPlan): Seq[ExprId] = WriteCommand.orAll(plan).output.map(_.exprId)
}
