package io.sparklatency.drawing

/** Writes SVG as text, and escapes attributes. Text content is escaped with `escape`. */
private[sparklatency] object Svg {

  /** An element. Numbers in attributes have at most one decimal: a tenth of a pixel. */
  def element(name: String, attributes: (String, Any)*)(content: String*): String = {
    val text = new StringBuilder
    text += '<' ++= name
    attributes.foreach { case (attribute, value) =>
      text += ' ' ++= attribute ++= "=\"" ++= shown(value) += '"'
    }
    if (content.isEmpty) text ++= "/>"
    else {
      text += '>'
      content.foreach(text ++= _)
      text ++= "</" ++= name += '>'
    }
    text.result()
  }

  /** Text as XML takes it. A control character, which XML refuses, is replaced. Nearly all texts are given back as they are. */
  def escape(text: String): String = if (text.forall(isPlain)) text
  else text.flatMap {
    case '&' => "&amp;"
    case '<' => "&lt;"
    case '>' => "&gt;"
    case '"' => "&quot;"
    case c if c.isControl => "\ufffd"
    case c => c.toString
  }

  private def isPlain(c: Char): Boolean = c != '&' && c != '<' && c != '>' && c != '"' && !c.isControl

  /** Coordinates for `points` or a path. */
  def number(value: Double): String = {
    val tenths = math.round(value * 10)
    if (tenths % 10 == 0) (tenths / 10).toString else java.math.BigDecimal.valueOf(tenths, 1).toPlainString
  }

  private def shown(value: Any): String = value match {
    case number: Double => Svg.number(number)
    case number: Int => number.toString
    case other => escape(other.toString)
  }
}
