package org.apache.spark.sql.latency.recording

import io.sparklatency.time.IngestionClock
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.LeafExpression
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode
import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.types.TimestampType

/**
 * The time at which a row comes by, in a physical plan. Where it stands in a projection it is read once for each row: Spark computes what
 * is not deterministic there, and not where it is first needed.
 *
 * It is not `Nondeterministic`, for the reason that `RecordExpression` has. An instance belongs to one task, whose partitions are
 * read one after another. A row costs what the row clock costs.
 *
 * @param everyRow whether rows wait inside a task: see `RowClock`
 */
case class ReadingTime(everyRow: Boolean) extends LeafExpression {
  @transient private var clock: IngestionClock = _

  override lazy val deterministic: Boolean = false
  override def nullable: Boolean = false
  override def dataType: DataType = TimestampType
  override def prettyName: String = "ingestion_time"
  override def toString: String = s"$prettyName()"
  override def sql: String = toString

  override def eval(row: InternalRow): Any = {
    if (clock == null) clock = IngestionClock.open(everyRow)
    clock.micros()
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val name = classOf[IngestionClock].getName
    val clock = ctx.addMutableState(name, "ingestion", forceInline = true)
    ctx.addPartitionInitializationStatement(s"$clock = $name.open($everyRow);")
    ev.copy(code = code"final long ${ev.value} = $clock.micros();", isNull = FalseLiteral)
  }
}

object ReadingTime {

  /** A column of a projection that is a stamp. */
  private[latency] object Column {
    def unapply(column: NamedExpression): Option[Alias] = column match {
      case stamp @ Alias(_: ReadingTime, _) => Some(stamp)
      case _ => None
    }
  }

  private[latency] def isIn(expression: Expression): Boolean = expression.exists(_.isInstanceOf[ReadingTime])
}
