package org.apache.spark.sql.latency

import io.sparklatency.LatencyRecorder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Nondeterministic
import org.apache.spark.sql.catalyst.expressions.UnaryExpression
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.types.DataType

/**
 * Always true; takes the record's latency on the way.
 *
 * `columns` are all the columns that reach the node. They are children although their values are not used: generated code
 * evaluates a column where it is first needed, and what nobody had asked for by now would be computed, and its time spent,
 * after the clock was read.
 *
 * The accumulator stands in a second parameter list: two plans that differ in nothing else are the same plan.
 */
case class RecordE2ELatency(timestamp: Expression, columns: Seq[Expression], node: String)(
    val figures: LatencyAccumulator
) extends Nondeterministic {

  @transient private var recorder: LatencyRecorder = _

  override def children: Seq[Expression] = timestamp +: columns
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override def prettyName: String = "record_e2e_latency"
  override def toString: String = s"$prettyName($node, $timestamp)"
  override def sql: String = s"$prettyName('$node', ${timestamp.sql})"

  override protected def initializeInternal(partition: Int): Unit = recorder = figures.open(partition)

  override protected def evalInternal(row: InternalRow): Any = {
    timestamp.eval(row) match {
      case null => recorder.recordWithoutTimestamp()
      case micros => recorder.record(micros.asInstanceOf[Long])
    }
    true
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val accumulator = ctx.addReferenceObj("latency", figures)
    val recorder = ctx.addMutableState(classOf[LatencyRecorder].getName, "recorder", forceInline = true)
    ctx.addPartitionInitializationStatement(s"$recorder = $accumulator.open(partitionIndex);")
    val micros = timestamp.genCode(ctx)
    val record =
      if (timestamp.nullable)
        code"if (${micros.isNull}) $recorder.recordWithoutTimestamp(); else $recorder.record(${micros.value});"
      else code"$recorder.record(${micros.value});"
    ev.copy(
      code = code"""
        |${micros.code}
        |$record
        |final boolean ${ev.value} = true;
       """.stripMargin,
      isNull = FalseLiteral
    )
  }

  override protected def otherCopyArgs: Seq[AnyRef] = figures :: Nil

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RecordE2ELatency =
    copy(timestamp = newChildren.head, columns = newChildren.tail)(figures)
}

/**
 * Keeps a filter out of generated code. Alone between operators that do not generate code it would be a stage of its own, which
 * the query without it does not have.
 */
case class Uncompiled(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = child.eval(row)
  override def toString: String = child.toString
  override def sql: String = child.sql
  override protected def withNewChildInternal(newChild: Expression): Uncompiled = copy(newChild)
}
