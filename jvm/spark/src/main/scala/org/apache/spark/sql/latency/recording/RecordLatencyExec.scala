package org.apache.spark.sql.latency.recording

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.InputAdapter
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnaryExecNode
import org.apache.spark.sql.latency.compat.SafeToMerge

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
    extends UnaryExecNode with CodegenSupport with SafeToMerge {
  import RecordLatencyExec._

  /**
   * That holds the recorder, in the code that this thread makes: two may run one plan. None before code for a row is made, and where a
   * join finds that it has no rows.
   */
  @transient private lazy val variable = new ThreadLocal[String]

  override def nodeName: String = "RecordLatency"
  override protected def stringArgs: Iterator[Any] = Iterator(mark)
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def inputRDDs(): Seq[RDD[InternalRow]] = compiledChild.inputRDDs()

  /**
   * None, though all are evaluated here: else Spark would put what follows into a method of its own, with all columns as its
   * parameters, where it has none without the mark.
   */
  override def usedInputs: AttributeSet = AttributeSet.empty

  /**
   * What comes before the loop over the rows runs when the first of them is asked for, and again when the loop goes on. What comes
   * behind it runs when the last has passed. In a union it also runs behind each row.
   */
  override protected def doProduce(ctx: CodegenContext): String = {
    variable.remove()
    val rows = compiledChild.produce(ctx, this)
    val accumulator = RecordExpression.in(mark).figures
    val figures = ctx.addReferenceObj("latency", accumulator)
    val partition = RecordExpression.partitionIn(ctx)
    // All nodes of the stage are asked at once, so the first of them tells it.
    val reading =
      if (accumulator.isWatched && !isTold(child)) once(ctx, s"$figures.reads($partition);") else ""
    val opening = made.filter(_ => StageCode.isInUnion(this))
      .fold("")(RecordExpression.openFirst(_, figures, partition))
    // A join with an empty side generates no code for its rows, and opens nothing.
    val ending = made.fold("")(recorder => s"if (!shouldStop()) $figures.ended($recorder);")
    s"$opening\n$reading\n$rows\n$ending"
  }

  /** Costs a look at a flag each time it comes by. */
  private def once(ctx: CodegenContext, statement: String): String = {
    val done = ctx.addMutableState("boolean", "done", forceInline = true)
    s"if (!$done) { $done = true; $statement }"
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val columns = evaluateRequiredVariables(output, input, mark.references)
    val bound = RecordExpression.in(BindReferences.bindReference(mark, output))
    s"$columns\n${bound.recordingCode(ctx, recorderOf(bound, ctx))}\n${consume(ctx, input)}"
  }

  /** One for all branches of a union below. Within one it is opened by the branch's own code: a task of another has none of its rows. */
  private def recorderOf(bound: RecordExpression, ctx: CodegenContext): String = made.getOrElse {
    val recorder = bound.recorderIn(ctx)
    variable.set(recorder)
    if (!StageCode.isInUnion(this)) bound.openIn(ctx, recorder)
    recorder
  }

  private def made: Option[String] = Option(variable.get)

  override protected def doExecute(): RDD[InternalRow] = {
    val bound = RecordExpression.in(BindReferences.bindReference(mark, output))
    child.execute().mapPartitionsWithIndexInternal { (index, rows) =>
      val recorder = bound.figures.open(index)
      new Iterator[InternalRow] {
        // Costs a row nothing: from the first one on it is the rows themselves.
        private var source: Iterator[InternalRow] =
          new Unread(rows, () => { source = rows; bound.figures.reads(index) })
        override def hasNext: Boolean = {
          val has = source.hasNext
          if (!has) bound.figures.ended(recorder)
          has
        }
        override def next(): InternalRow = {
          val row = source.next()
          bound.record(row, recorder)
          row
        }
      }
    }
  }

  private def compiledChild = child.asInstanceOf[CodegenSupport]

  override protected def withNewChildInternal(newChild: SparkPlan): RecordLatencyExec = copy(child = newChild)
}

object RecordLatencyExec {

  /** Whether a node before this operator, in its stage of generated code, tells the first read. Of a union each branch needs one. */
  private def isTold(plan: SparkPlan): Boolean = plan match {
    case RecordLatencyExec(RecordExpression(mark), _, _) if mark.figures.isWatched => true
    case _: InputAdapter => false
    case other => other.children.nonEmpty && other.children.forall(isTold)
  }

  /** What rows are read from until one is asked for: then it says so, once. */
  private final class Unread(rows: Iterator[InternalRow], asked: () => Unit) extends Iterator[InternalRow] {
    override def hasNext: Boolean = { asked(); rows.hasNext }
    override def next(): InternalRow = { asked(); rows.next() }
  }
}
