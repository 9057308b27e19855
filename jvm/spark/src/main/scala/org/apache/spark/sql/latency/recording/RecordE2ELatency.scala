package org.apache.spark.sql.latency.recording

import io.sparklatency.recording.LatencyRecorder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/**
 * Takes the age of each record. The clock is read after the work on `columns`, so that work is in the figure.
 *
 * `columns` are the columns whose work must be done by then, as a rule all that reach the node. Their values are not used,
 * yet they are children: generated code evaluates a column where it is first needed. A column that nobody has needed yet
 * would be computed after the clock was read.
 *
 * Costs 2 to 3 ns a record in generated code as a rule, and 40 to 60 ns more where each row has a reading of its own (real-time and
 * continuous mode). The last mark of a query also takes ages at the commit: see `JudgedMark.takeAges`. Nothing is boxed while the
 * timestamp is a column. Runs in the thread that reads the partition's rows.
 */
case class RecordE2ELatency(timestamp: Expression, columns: Seq[Expression], node: String)(
    val figures: LatencyAccumulator
) extends RecordExpression {
  override def children: Seq[Expression] = timestamp +: columns

  override def prettyName: String = figures.owner.measure.name.replace('-', '_')
  override def toString: String = s"$prettyName($node, $timestamp)"
  override def sql: String = s"$prettyName('$node', ${timestamp.sql})"

  override private[latency] def record(row: InternalRow, recorder: LatencyRecorder): Unit = timestamp match {
    case column: BoundReference => // as a rule, and then nothing is boxed
      if (row.isNullAt(column.ordinal)) recorder.recordWithoutTimestamp()
      else recorder.record(row.getLong(column.ordinal))
    case other => other.eval(row) match {
        case null => recorder.recordWithoutTimestamp()
        case micros => recorder.record(micros.asInstanceOf[Long])
      }
  }

  override private[recording] def recordingCode(ctx: CodegenContext, recorder: String): Block = {
    val micros = timestamp.genCode(ctx)
    val record =
      if (timestamp.nullable)
        code"if (${micros.isNull}) $recorder.recordWithoutTimestamp(); else $recorder.record(${micros.value});"
      else code"$recorder.record(${micros.value});"
    code"${micros.code}\n$record"
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RecordE2ELatency =
    copy(timestamp = newChildren.head, columns = newChildren.tail)(figures)
}
