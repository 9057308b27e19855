package org.apache.spark.sql.latency.recording

import io.sparklatency.figures.Measure
import io.sparklatency.recording.LatencyRecorder
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.types.DataType

/**
 * An expression that is always true, and records something of each row on the way. So a filter with it lets every row pass: see
 * [[MarkOperator]].
 *
 * It is not `Nondeterministic`, although it has to know its partition. Spark takes that trait to mean that the value depends
 * on the partition's index, and generates no code for a union of such children. See [[OfPartition]].
 *
 * One instance has one recorder for the partition that is read: only the thread that reads it may evaluate. Each kind says
 * what a record costs. A partition costs one [[LatencyAccumulator.open]].
 */
abstract class RecordExpression extends Expression {

  /**
   * Where the tasks write. Each kind has it in a second parameter list, so it does not count when plans are compared: two
   * plans that differ in nothing else are the same plan.
   */
  def figures: LatencyAccumulator
  def node: String

  /** Whether ages are taken at the node itself. Where they are not, something is taken of the rows that its operator takes in. */
  def isOfLatency: Boolean = figures.owner.measure == Measure.E2ELatency

  @transient private var opened: LatencyRecorder = _

  override lazy val deterministic: Boolean = false
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override protected def otherCopyArgs: Seq[AnyRef] = figures :: Nil

  /** Called before the rows of a partition. */
  private[latency] def open(partition: Int): Unit = opened = figures.open(partition)

  /** Takes a row without generated code. The expression is bound to the row's columns. */
  private[latency] def record(row: InternalRow, recorder: LatencyRecorder): Unit

  override def eval(row: InternalRow): Any = {
    record(row, recorder)
    true
  }

  /**
   * Spark tells the partition in all cases but one: generated code that turns out not to compile. Then the task's partition
   * has to do.
   */
  private def recorder: LatencyRecorder = {
    if (opened == null) open(TaskContext.getPartitionId())
    opened
  }

  /** Code that uses a variable which holds the recorder. */
  private[recording] def recordingCode(ctx: CodegenContext, recorder: String): Block

  /** A new variable for the recorder. */
  private[recording] def recorderIn(ctx: CodegenContext): String =
    ctx.addMutableState(classOf[LatencyRecorder].getName, "recorder", forceInline = true)

  /** Has it opened before the rows of each partition. Two may read one in a task at once, each with a recorder of its own. */
  private[recording] def openIn(ctx: CodegenContext, recorder: String): Unit =
    openBy("open(partitionIndex)", ctx, recorder)

  private def openBy(open: String, ctx: CodegenContext, recorder: String): Unit = {
    val accumulator = ctx.addReferenceObj("latency", figures)
    ctx.addPartitionInitializationStatement(s"$recorder = $accumulator.$open;")
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val recorder = recorderIn(ctx)
    openBy("openOnce(partitionIndex, this)", ctx, recorder) // it does not see whether it stands above a union
    recorded(ev, recordingCode(ctx, recorder))
  }

  /** The same, but that the recorder is opened with the first row: see [[OfBranch]]. */
  private[recording] def branchCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val recorder = recorderIn(ctx)
    val accumulator = ctx.addReferenceObj("latency", figures)
    val opening = RecordExpression.openFirst(recorder, accumulator, RecordExpression.partitionIn(ctx))
    recorded(ev, code"$opening\n${recordingCode(ctx, recorder)}")
  }

  private def recorded(ev: ExprCode, recording: Block): ExprCode =
    ev.copy(
      code = code"""
        |$recording
        |final boolean ${ev.value} = true;
       """.stripMargin,
      isNull = FalseLiteral
    )
}

object RecordExpression {

  /** A variable for the partition: the code of a row may stand in a nested class, which does not see the iterator's own index. */
  private[recording] def partitionIn(ctx: CodegenContext): String = {
    val partition = ctx.addMutableState("int", "partition", forceInline = true)
    ctx.addPartitionInitializationStatement(s"$partition = partitionIndex;")
    partition
  }

  /** Opens a recorder in the code of a union's branch, once it runs. */
  private[recording] def openFirst(recorder: String, accumulator: String, partition: String): String =
    s"if ($recorder == null) $recorder = $accumulator.openFirst($partition);"

  /** The mark in the expression of an operator. */
  private[latency] def in(expression: Expression): RecordExpression =
    unapply(expression).getOrElse(throw new IllegalStateException(s"not a mark: $expression"))

  private[latency] def unapply(expression: Expression): Option[RecordExpression] = expression match {
    case mark: RecordExpression => Some(mark)
    case OfPartition(mark: RecordExpression) => Some(mark)
    case OfBranch(mark: RecordExpression) => Some(mark)
    case Uncompiled(mark: RecordExpression) => Some(mark)
    case _ => None
  }
}
