package org.apache.spark.sql.latency.recording

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.UnaryExpression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.types.DataType

/**
 * Keeps a filter with a mark out of the stages of generated code. Alone between operators that do not generate code, it would be a stage
 * of its own, which the plan without the mark does not have. Stands only where [[RecordLatencyExec]] cannot: in real-time and
 * continuous mode.
 *
 * The filter generates the code of its predicate in each task. A record then costs what its child costs, and one call of the
 * filter's iterator. Runs in the thread that reads the partition's rows.
 */
case class Uncompiled(child: Expression) extends UnaryExpression with CodegenFallback {
  override lazy val deterministic: Boolean = false
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = child.eval(row)
  override def toString: String = child.toString
  override def sql: String = child.sql

  /** The filter still compiles its own predicate, so its rows need no interpreter. */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = child.genCode(ctx)

  override protected def withNewChildInternal(newChild: Expression): Uncompiled = copy(newChild)
}
