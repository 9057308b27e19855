package io.sparklatency.drawing

/** Writes SVG as text, and escapes attributes. Text content is escaped with `escape`. */
private[sparklatency] object Svg {

  /** An element. Numbers in attributes have at most one decimal: a tenth of a pixel. */
  def element(name: String, attributes: (String, Any)*)(content: String*): String = {
    val written = attributes.map { case (attribute, value) => s""" $attribute="${escape(shown(value))}"""" }
    val start = s"<$name${written.mkString}"
    if (content.isEmpty) s"$start/>" else content.mkString(s"$start>", "", s"</$name>")
  }

  /** Text as XML takes it. A control character, which XML refuses, is replaced. */
  def escape(text: String): String = text.map {
    case '&' => "&amp;"
    case '<' => "&lt;"
    case '>' => "&gt;"
    case '"' => "&quot;"
    case c if c.isControl => "\ufffd"
    case c => c.toString
  }.mkString

  /** Coordinates for `points` or a path. */
  def number(value: Double): String = {
    val rounded = math.round(value * 10) / 10.0
    if (rounded.isWhole) rounded.toLong.toString else rounded.toString
  }

  private def shown(value: Any): String = value match {
    case number: Double => Svg.number(number)
    case other => other.toString
  }
}
