package org.apache.spark.sql.latency.recording

import io.sparklatency.recording.LatencyRecorder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

/**
 * Takes how far a row is behind the watermark for which an operator will drop it. Rows that the operator keeps are not
 * recorded.
 *
 * A row that is kept costs one comparison, a late row as much as a latency. Runs in the thread that reads the partition's
 * rows.
 *
 * @param eventTime of type TIMESTAMP
 * @param watermark microseconds; rows up to here are dropped
 */
case class RecordLateness(
    eventTime: Expression,
    watermark: Long,
    node: String
)(val figures: LatencyAccumulator)
    extends RecordExpression {
  override def children: Seq[Expression] = Seq(eventTime)
  override def prettyName: String = "record_lateness"
  override def toString: String = s"$prettyName($node, $eventTime)"

  override private[latency] def record(row: InternalRow, recorder: LatencyRecorder): Unit =
    eventTime.eval(row) match {
      case micros: Long if micros <= watermark => recorder.record(micros)
      case _ =>
    }

  override private[recording] def recordingCode(ctx: CodegenContext, recorder: String): Block = {
    val micros = eventTime.genCode(ctx)
    // By reference: as a literal it would make the code of every batch another one, to be compiled anew.
    val reference = ctx.addReferenceObj("watermark", Long.box(watermark), "java.lang.Long")
    val limit = ctx.addMutableState("long", "watermark", limit => s"$limit = $reference;", forceInline = true)
    code"""${micros.code}
          |if (!${micros.isNull} && ${micros.value} <= $limit) $recorder.record(${micros.value});""".stripMargin
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RecordLateness =
    copy(newChildren.head)(figures)
}
