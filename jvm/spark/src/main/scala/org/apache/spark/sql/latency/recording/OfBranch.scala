package org.apache.spark.sql.latency.recording

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.UnaryExpression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.types.DataType

/**
 * A mark in a filter that becomes part of the code of one branch of a union. A task runs the code of one branch, and initializes that of
 * all: opened there, a node would begin in the tasks of the other branches too, and behind the nodes above the union. So it is opened with
 * the first row of its own branch, in front of those. A task that has no such row has no reading.
 *
 * Stands only where [[RecordLatencyExec]] cannot, which sees by itself where it is: in real-time mode. The code of a branch has one node
 * there at the most, for whatever ends in a second one generates no code. A record costs one look more, whether it is opened. Runs in the
 * thread that reads the partition's rows.
 */
case class OfBranch(child: Expression) extends UnaryExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = child.eval(row)
  override def toString: String = child.toString
  override def sql: String = child.sql

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    RecordExpression.in(child).branchCode(ctx, ev)

  override protected def withNewChildInternal(newChild: Expression): OfBranch = copy(newChild)
}
