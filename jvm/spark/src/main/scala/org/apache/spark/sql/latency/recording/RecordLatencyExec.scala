package org.apache.spark.sql.latency.recording

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnaryExecNode

/**
 * A mark in a plan. Rows, partitioning and ordering pass unchanged.
 *
 * Where its neighbours generate code it takes part in their stage, and a record costs what the mark costs. Elsewhere it generates
 * none: code would be generated and compiled in every task, which takes longer than a few thousand rows. A record then costs one
 * call of the iterator, too. Runs in the thread that reads the partition's rows.
 *
 * @param mark           a [[RecordExpression]], alone or wrapped in [[OfPartition]]
 * @param supportCodegen whether it takes part in a stage of generated code
 */
case class RecordLatencyExec(mark: Expression, child: SparkPlan, override val supportCodegen: Boolean)
    extends UnaryExecNode with CodegenSupport {
  override def nodeName: String = "RecordLatency"
  override protected def stringArgs: Iterator[Any] = Iterator(mark)
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def inputRDDs(): Seq[RDD[InternalRow]] = compiledChild.inputRDDs()

  /** What comes behind the loop over the rows runs when the last of them has passed. In a union it also runs behind each row. */
  override protected def doProduce(ctx: CodegenContext): String = {
    val rows = compiledChild.produce(ctx, this)
    val figures = ctx.addReferenceObj("latency", RecordExpression.in(mark).figures)
    // The code may stand in a nested class, which does not see the iterator's own index.
    val partition = ctx.addMutableState("int", "partition", forceInline = true)
    ctx.addPartitionInitializationStatement(s"$partition = partitionIndex;")
    s"$rows\nif (!shouldStop()) $figures.ended($partition);"
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val columns = evaluateRequiredVariables(output, input, mark.references)
    val recording = BindReferences.bindReference(mark, output).genCode(ctx)
    s"$columns\n${recording.code}\n${consume(ctx, input)}"
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val bound = RecordExpression.in(BindReferences.bindReference(mark, output))
    child.execute().mapPartitionsWithIndexInternal { (index, rows) =>
      val recorder = bound.figures.open(index)
      new Iterator[InternalRow] {
        override def hasNext: Boolean = {
          val has = rows.hasNext
          if (!has) bound.figures.ended(index)
          has
        }
        override def next(): InternalRow = {
          val row = rows.next()
          bound.record(row, recorder)
          row
        }
      }
    }
  }

  private def compiledChild = child.asInstanceOf[CodegenSupport]

  override protected def withNewChildInternal(newChild: SparkPlan): RecordLatencyExec = copy(child = newChild)
}
