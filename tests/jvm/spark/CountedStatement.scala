package org.apache.spark.sql.latency

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.unused

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.latency.compat.Dataset
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.types.TimestampType

/** A statement that does something each time it is run, and tells when and how often, as `MERGE` of a table tells what it changed. */
final case class CountedStatement(at: Timestamp, runs: AtomicInteger) extends LeafRunnableCommand {
  override val output: Seq[Attribute] = Seq(
    AttributeReference("ts", TimestampType, nullable = false)(),
    AttributeReference("run", IntegerType, nullable = false)()
  )

  override def run(@unused session: SparkSession): Seq[Row] = Seq(Row(at, runs.incrementAndGet()))
}

object CountedStatement {

  /** What `spark.sql` of such a statement gives: it has been run then. */
  def result(session: SparkSession, at: Timestamp, runs: AtomicInteger): DataFrame =
    Dataset.ofRows(session.asInstanceOf[compat.SparkSession], CountedStatement(at, runs))
}
