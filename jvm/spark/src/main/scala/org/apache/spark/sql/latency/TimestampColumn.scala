package org.apache.spark.sql.latency

import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampNTZType
import org.apache.spark.sql.types.TimestampType

/** Which types can say when a record happened. */
private[latency] object TimestampColumn {

  def fits(dataType: DataType): Boolean = dataType match {
    case TimestampType | TimestampNTZType => true
    case other => isWindow(other)
  }

  def isWindow(dataType: DataType): Boolean = dataType match {
    case struct: StructType =>
      struct.fieldNames.toSeq == Seq("start", "end") &&
      struct.fields.forall(field => field.dataType == TimestampType || field.dataType == TimestampNTZType)
    case _ => false
  }

  /** As TIMESTAMP: a TIMESTAMP_NTZ is read in `timeZone`, a window is its end. None where the type does not fit. */
  def read(expression: Expression, timeZone: String): Option[Expression] = expression.dataType match {
    case TimestampType => Some(expression)
    case TimestampNTZType => Some(Cast(expression, TimestampType, Some(timeZone)))
    case window: StructType if isWindow(window) =>
      read(GetStructField(expression, window.fieldIndex("end")), timeZone)
    case _ => None
  }
}
