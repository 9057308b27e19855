package org.apache.spark.sql.latency

import io.sparklatency.LatencyRecorder
import io.sparklatency.Measure
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Nondeterministic
import org.apache.spark.sql.catalyst.expressions.UnaryExpression
import org.apache.spark.sql.catalyst.expressions.codegen.Block
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.types.DataType

/**
 * Always true; records something of each row on the way.
 *
 * It is not `Nondeterministic`, although it has to know its partition: Spark takes that trait to mean that the value depends on
 * the partition's index, and gives up generating code for a union of such children. See [[OfPartition]].
 */
sealed abstract class RecordExpression extends Expression {

  /**
   * Where the tasks write. It stands in a second parameter list of each kind: two plans that differ in nothing else are the same
   * plan.
   */
  def figures: LatencyAccumulator
  def node: String

  @transient private var opened: LatencyRecorder = _

  override lazy val deterministic: Boolean = false
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override protected def otherCopyArgs: Seq[AnyRef] = figures :: Nil

  /** Called before the rows of a partition. */
  private[latency] def open(partition: Int): Unit = opened = figures.open(partition)

  /** Takes a row that it is bound to, without generated code. */
  private[latency] def record(row: InternalRow, recorder: LatencyRecorder): Unit

  override def eval(row: InternalRow): Any = {
    record(row, recorder)
    true
  }

  /** Only where generated code turns out not to compile, nobody says which partition it is: the task's has to do. */
  private def recorder: LatencyRecorder = {
    if (opened == null) open(TaskContext.getPartitionId())
    opened
  }

  /** Code that uses a variable which holds the recorder. */
  protected def recordingCode(ctx: CodegenContext, recorder: String): Block

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val accumulator = ctx.addReferenceObj("latency", figures)
    val recorder = ctx.addMutableState(classOf[LatencyRecorder].getName, "recorder", forceInline = true)
    ctx.addPartitionInitializationStatement(s"$recorder = $accumulator.open(partitionIndex);")
    ev.copy(
      code = code"""
        |${recordingCode(ctx, recorder)}
        |final boolean ${ev.value} = true;
       """.stripMargin,
      isNull = FalseLiteral
    )
  }
}

/**
 * Takes the record's age.
 *
 * `columns` are the columns whose work must be done by then, as a rule all that reach the node. They are children although their
 * values are not used: generated code evaluates a column where it is first needed, and what nobody had asked for by now would be
 * computed, and its time spent, after the clock was read.
 */
case class RecordE2ELatency(timestamp: Expression, columns: Seq[Expression], node: String)(
    val figures: LatencyAccumulator
) extends RecordExpression {
  override def children: Seq[Expression] = timestamp +: columns

  /** Rather than of what an operator takes in. */
  def isOfLatency: Boolean = figures.owner.measure == Measure.E2ELatency

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

  override protected def recordingCode(ctx: CodegenContext, recorder: String): Block = {
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

/**
 * Takes how far a row is behind the watermark that an operator will drop it for; rows that it will keep are not recorded.
 *
 * @param eventTime as TIMESTAMP
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

  override protected def recordingCode(ctx: CodegenContext, recorder: String): Block = {
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

/**
 * Keeps a filter out of the stages of generated code. Alone between operators that do not generate code it would be a stage of its
 * own, which the query without it does not have. Only where [[RecordExec]] does not stand.
 */
case class Uncompiled(child: Expression) extends UnaryExpression with CodegenFallback {
  override lazy val deterministic: Boolean = false
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def eval(row: InternalRow): Any = child.eval(row)
  override def toString: String = child.toString
  override def sql: String = child.sql

  /** The filter's own predicate is compiled all the same, and its rows need no interpreter. */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = child.genCode(ctx)

  override protected def withNewChildInternal(newChild: Expression): Uncompiled = copy(newChild)
}

/**
 * Makes sure that a mark is told the partition of its own RDD: Spark's interpreter tells only what is `Nondeterministic`, and
 * Spark 4.3 numbers the partitions of all branches of a union together unless one of them is.
 */
case class OfPartition(child: Expression) extends UnaryExpression with Nondeterministic {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def toString: String = child.toString
  override def sql: String = child.sql
  override protected def evalInternal(row: InternalRow): Any = child.eval(row)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = child.genCode(ctx)
  override protected def withNewChildInternal(newChild: Expression): OfPartition = copy(newChild)

  override protected def initializeInternal(partition: Int): Unit = child match {
    case record: RecordExpression => record.open(partition)
    case other => throw new IllegalStateException(s"not a mark: $other")
  }
}
