package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.catalyst.expressions.Greatest
import org.apache.spark.sql.catalyst.expressions.TryEval
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.types.DateType
import org.apache.spark.sql.types.NumericType
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampNTZType
import org.apache.spark.sql.types.TimestampType

/**
 * Which column types can hold a record timestamp, and how it is read from them. A TIMESTAMP costs nothing to read, a window a
 * field, a TIMESTAMP_NTZ a cast for each record. Without state, for any thread that plans or analyzes.
 */
private[latency] object TimestampColumn {

  def fits(dataType: DataType): Boolean = dataType match {
    case TimestampType | TimestampNTZType => true
    case other => isWindow(other)
  }

  /** A window's fields, and which of them says how old it is. */
  private val Fields = Seq("start", "end")
  private val End = Fields.indexOf("end")

  def isWindow(dataType: DataType): Boolean = dataType match {
    case struct: StructType =>
      struct.fieldNames.toSeq == Fields &&
      struct.fields.forall(field => field.dataType == TimestampType || field.dataType == TimestampNTZType)
    case _ => false
  }

  /** How to make a timestamp of a column that may hold one in another form. Spark's cast takes any number for seconds, so it is not named. */
  def howToMake(dataType: DataType): Option[String] = dataType match {
    case _: StringType => Some("to_timestamp makes one of a text")
    case _: NumericType =>
      Some("timestamp_millis makes one of a number of milliseconds, timestamp_seconds of a number of seconds")
    case DateType => Some("a cast to TIMESTAMP makes one of a date: its midnight")
    case _ => None
  }

  /** The names of these columns that fit, and of such fields within them: `event.ts`. */
  def namesOf(columns: Seq[StructField]): Seq[String] =
    columns.filter(column => fits(column.dataType)).map(_.name) ++ columns.flatMap(within(_, Nil))

  private def within(column: StructField, around: Seq[String]): Seq[String] = column.dataType match {
    case struct: StructType if !fits(struct) =>
      val path = around :+ DottedName.inBackticks(column.name)
      struct.fields.toSeq.flatMap { field =>
        if (fits(field.dataType)) Seq((path :+ DottedName.inBackticks(field.name)).mkString("."))
        else within(field, path)
      }
    case _ => Nil
  }

  /** What a type that fits is called: a window's own would be a long one. */
  def name(dataType: DataType): String = if (isWindow(dataType)) "window" else dataType.sql

  /** What a node's timestamp is called, where users are told of it. */
  def nameOf(timestamp: Expression): String = timestamp match {
    case column: Attribute => column.name
    case Cast(column, TimestampType, _, _) if column.dataType == TimestampNTZType => nameOf(column)
    case field: GetStructField => s"${nameOf(field.child)}.${field.extractFieldName}"
    case Greatest(columns) => s"the newest of ${columns.map(nameOf).mkString(", ")}"
    case TryEval(computed) => nameOf(computed)
    case computed => Readable.cut(computed.sql)
  }

  /** The end of a window, which gives out the window. */
  object WindowEnd {
    def unapply(expression: Expression): Option[Expression] = expression match {
      case GetStructField(window, field, _) if isWindow(window.dataType) && field == End => Some(window)
      case _ => None
    }
  }

  /** As TIMESTAMP: a TIMESTAMP_NTZ in `timeZone`, a window by its end. None if the type does not fit. */
  def read(expression: Expression, timeZone: String): Option[Expression] = expression.dataType match {
    case TimestampType => Some(expression)
    case TimestampNTZType => Some(Cast(expression, TimestampType, Some(timeZone)))
    case window if isWindow(window) => read(GetStructField(expression, End), timeZone)
    case _ => None
  }
}
