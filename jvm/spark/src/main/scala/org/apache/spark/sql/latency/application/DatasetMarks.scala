package org.apache.spark.sql.latency.application

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.RecordTimestamp
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.latency.compat.Dataset
import org.apache.spark.sql.latency.compat.SessionExtensions
import org.apache.spark.sql.latency.marking.Marking
import org.apache.spark.sql.latency.marking.Stamping
import org.apache.spark.sql.latency.planning.FirstRowsStrategy
import org.apache.spark.sql.latency.planning.LatencyMarkStrategy
import org.apache.spark.sql.{Dataset => AnyDataset}

/**
 * Marks and stamps Datasets for the façades. The jar alone is enough: the first call in a session adds what plans a mark. A user's
 * mistake fails here, with an IllegalArgumentException that names the remedy.
 *
 * Costs one analysis of the marked Dataset, and nothing per record until the plan runs. Called in the user's thread.
 */
object DatasetMarks {

  /** `dataset` with the node on top of it, or `dataset` itself where the level excludes the node. */
  def mark[T](
      dataset: AnyDataset[T],
      node: String,
      timestamp: RecordTimestamp,
      level: String
  ): AnyDataset[T] =
    dataset match {
      case classic: Dataset[T @unchecked] =>
        val session = classic.sparkSession
        LatencyApplication.running(
          session.sparkContext
        ) // reads the settings of the application: a bad one fails here
        val marks = LatencyMarkStrategy(LatencyApplication)
        if (SessionStrategies.add(session, marks)) SessionExtensions.warnWithout(session)
        SessionStrategies.add(session, FirstRowsStrategy(marks))
        val child = whatItReads(classic)
        val marked = Marking.mark(session, child, node, _.resolve(timestamp), level)
        if (marked eq child) dataset else Dataset.ofRows(session, marked).as(classic.encoder)
      case _ =>
        val id = Readable.name(String.valueOf(node))
        throw new IllegalArgumentException(
          s"node '$id': ${dataset.getClass.getName} has no plan to mark here; under Spark Connect use " +
            s"""dataset.hint("E2E_LATENCY", "$id") on a server whose class path has sparklatency"""
        )
    }

  /**
   * What Spark's own methods build on: of a statement its result. The analyzed plan still is the statement, a `MERGE` for example,
   * which would run once more.
   */
  private def whatItReads(dataset: Dataset[_]): LogicalPlan = dataset.logicalPlan

  /** `dataset` with one more column, the time at which each record is read. */
  def stamp(dataset: AnyDataset[_], column: String): AnyDataset[Row] = dataset match {
    case classic: Dataset[_] =>
      val session = classic.sparkSession
      Dataset.ofRows(session, Stamping.stamp(session, whatItReads(classic), column))
    case other =>
      throw new IllegalArgumentException(
        s"${other.getClass.getName} has no plan to stamp here; under Spark Connect select " +
          "expr(\"ingestion_time()\") on a server whose class path has sparklatency"
      )
  }
}
