package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.StringType

/**
 * A hint's parameter that is a text: the parser gives it as it is, or as a literal, which has the collation of the view that it stands in.
 * Without state.
 */
private[marking] object HintText {
  def unapply(parameter: Any): Option[String] = parameter match {
    case text: String => Some(text)
    case Literal(value, _: StringType) if value != null => Some(value.toString)
    case _ => None
  }

  /** Parameters as a message about their hint shows them. */
  def shown(parameters: Seq[Any]): String = Readable.cut(parameters.take(10).map {
    case expression: Expression => expression.sql
    case other => String.valueOf(other)
  }.mkString(", "))
}
