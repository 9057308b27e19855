package org.apache.spark.sql.latency

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnaryExecNode

/**
 * A mark between operators that do not generate code. A filter there has the code of its predicate generated in every task, which
 * takes longer than a few thousand rows. Where tasks run as long as the query it is a filter: that pays then, and real-time mode
 * allows operators by name.
 */
case class RecordExec(mark: RecordExpression, child: SparkPlan) extends UnaryExecNode {
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

  override protected def withNewChildInternal(newChild: SparkPlan): RecordExec = copy(child = newChild)
}
