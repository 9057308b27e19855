package org.apache.spark.sql.latency.marking

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
}
