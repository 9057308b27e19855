package io.sparklatency

/** SVG as text. What people named is escaped here, so that no drawing has to think of it. */
private[sparklatency] object Svg {

  /** An element; numbers among the attributes have one decimal at the most, which is a tenth of a pixel. */
  def element(name: String, attributes: (String, Any)*)(content: String*): String = {
    val written = attributes.map { case (attribute, value) => s""" $attribute="${escape(shown(value))}"""" }
    val start = s"<$name${written.mkString}"
    if (content.isEmpty) s"$start/>" else content.mkString(s"$start>", "", s"</$name>")
  }

  /** Text, of which XML does not take every character. */
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
