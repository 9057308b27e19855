package org.apache.spark.sql.latency.recording

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Nondeterministic
import org.apache.spark.sql.catalyst.expressions.UnaryExpression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.types.DataType

/**
 * Makes sure that a mark is told the partition of its own RDD. Spark's interpreter tells the partition only to
 * `Nondeterministic` expressions. And Spark 4.3 numbers the partitions of all branches of a union together, unless one branch
 * has such an expression.
 *
 * Generated code is that of the mark alone, so a record costs no more. Spark initializes it before the rows of each
 * partition, in the thread that reads them.
 */
case class OfPartition(child: Expression) extends UnaryExpression with Nondeterministic {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def toString: String = child.toString
  override def sql: String = child.sql
  override protected def evalInternal(row: InternalRow): Any = child.eval(row)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = child.genCode(ctx)
  override protected def withNewChildInternal(newChild: Expression): OfPartition = copy(newChild)

  override protected def initializeInternal(partition: Int): Unit = RecordExpression.in(child).open(partition)
}
