package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.LeafExpression
import org.apache.spark.sql.catalyst.expressions.Nondeterministic
import org.apache.spark.sql.catalyst.expressions.Unevaluable
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.latency.recording.ReadingTime
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.types.TimestampType

/**
 * `ingestion_time()`: the time at which a record is read. In a projection the optimizer makes an [[IngestionStamp]] of it. Elsewhere, and
 * in a session that has the jar without its rules, it is computed where it stands, and filters do not pass it.
 *
 * Immutable. Users' threads make it, and Spark's analyzer handles it in theirs.
 *
 * @param reading computes it
 * @param fence   keeps Spark from computing it while it plans: Spark does so where the rows are at hand, unless an expression has a part that
 *                cannot be computed
 */
case class IngestionTime(
    reading: Expression = ReadingTime(everyRow = true),
    fence: Expression = IngestionTime.Fence()
) extends Expression with Nondeterministic {
  override def children: Seq[Expression] = Seq(reading, fence)
  override def nullable: Boolean = false
  override def dataType: DataType = TimestampType
  override def prettyName: String = IngestionTime.Name
  override def toString: String = s"$prettyName()"
  override def sql: String = toString

  override protected def initializeInternal(partition: Int): Unit = ()
  override protected def evalInternal(row: InternalRow): Any = reading.eval(row)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = reading.genCode(ctx)
  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): IngestionTime =
    copy(children.head, children.last)
}

object IngestionTime {
  val Name = "ingestion_time"

  /** Has no value, and nobody asks for one. */
  case class Fence() extends LeafExpression with Unevaluable {
    override def nullable: Boolean = false
    override def dataType: DataType = TimestampType
  }

  /** What SQL calls. */
  def of(arguments: Seq[Expression]): IngestionTime =
    if (arguments.isEmpty) IngestionTime()
    else {
      val asked = Readable.cut(arguments.map(_.sql).take(10).mkString(", "))
      throw new IllegalArgumentException(s"$Name($asked): it takes no argument; use $Name()")
    }
}
