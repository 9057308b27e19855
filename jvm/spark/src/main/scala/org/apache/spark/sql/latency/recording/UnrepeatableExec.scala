package org.apache.spark.sql.latency.recording

import org.apache.spark.Partition
import org.apache.spark.Partitioner
import org.apache.spark.TaskContext
import org.apache.spark.rdd.DeterministicLevel
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnaryExecNode
import org.apache.spark.sql.latency.compat.SafeToMerge

/**
 * Tells Spark that what stands above makes other rows when a task runs again. When the output of a shuffle is lost Spark then runs all of
 * the stage again, and what has read from it, or fails the job where that cannot be. Otherwise it would run the lost tasks alone, and a
 * row that their second attempt deals out elsewhere would be read twice or never.
 *
 * Rows, partitioning and ordering pass unchanged. A row costs nothing, a partition one more iterator.
 */
case class UnrepeatableExec(child: SparkPlan) extends UnaryExecNode with CodegenSupport with SafeToMerge {
  override def nodeName: String = "Unrepeatable"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def inputRDDs(): Seq[RDD[InternalRow]] = compiledChild.inputRDDs().map(new UnrepeatableRDD(_))

  override protected def doProduce(ctx: CodegenContext): String = compiledChild.produce(ctx, this)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    consume(ctx, input)

  override protected def doExecute(): RDD[InternalRow] = new UnrepeatableRDD(child.execute())

  private def compiledChild = child.asInstanceOf[CodegenSupport]

  override protected def withNewChildInternal(newChild: SparkPlan): UnrepeatableExec = copy(child = newChild)
}

/** The partitions of `rows` as they are. What Spark makes of them inherits that they are not repeatable. */
private final class UnrepeatableRDD(rows: RDD[InternalRow]) extends RDD[InternalRow](rows) {
  @transient override val partitioner: Option[Partitioner] = rows.partitioner
  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions
  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
    firstParent[InternalRow].iterator(split, context)
  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    DeterministicLevel.INDETERMINATE
}
