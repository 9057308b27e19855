package org.apache.spark.sql.latency.recording

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnaryExecNode

/**
 * A mark between operators that do not generate code. Rows, partitioning and ordering pass unchanged.
 *
 * It generates no code, and that is why it exists: a filter here would generate the code of its predicate in every task,
 * which takes longer than a few thousand rows. Where a task runs as long as the query, a filter with [[Uncompiled]] stands
 * instead: there the generated code pays, and real-time mode accepts only operators that it knows by name.
 *
 * A record costs what the mark costs, and one call of the iterator. Runs in the thread that reads the partition's rows.
 */
case class RecordLatencyExec(mark: RecordExpression, child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "RecordLatency"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val bound = BindReferences.bindReference(mark, child.output)
    child.execute().mapPartitionsWithIndexInternal { (partition, rows) =>
      val recorder = bound.figures.open(partition)
      rows.map { row =>
        bound.record(row, recorder)
        row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): RecordLatencyExec = copy(child = newChild)
}
