package io.sparklatency.drawing

/**
 * Text as XML takes it, in an element or an attribute. A control character, which XML refuses, is replaced. What needs more than a byte in
 * Java, as the dash for what is unknown does, is written by its number: one such character would make all of a page take twice as much.
 *
 * Nearly all texts are given back as they are. Without state, for any thread.
 */
object XmlText {
  def escape(raw: String): String = if (plainUntil(raw, 0) == raw.length) raw
  else {
    val text = new StringBuilder
    escape(raw, text)
    text.result()
  }

  /** Writes the same behind a text. */
  def escape(raw: String, text: StringBuilder): Unit = {
    var (from, to) = (0, plainUntil(raw, 0))
    while (to < raw.length) {
      text ++= raw.substring(from, to) ++= escaped(raw.charAt(to))
      from = to + 1
      to = plainUntil(raw, from)
    }
    text ++= raw.substring(from)
    ()
  }

  /** Where the next character is that is not plain, or the end. */
  private def plainUntil(raw: String, from: Int): Int = {
    var i = from
    while (i < raw.length && isPlain(raw.charAt(i))) i += 1
    i
  }

  private def isPlain(c: Char): Boolean =
    c <= '\u00ff' && c != '&' && c != '<' && c != '>' && c != '"' && !Character.isISOControl(c)

  private def escaped(c: Char): String = c match {
    case '&' => "&amp;"
    case '<' => "&lt;"
    case '>' => "&gt;"
    case '"' => "&quot;"
    case '\n' | '\r' | '\t' => c.toString
    case _ if c.isControl => "&#65533;"
    case _ if c.isSurrogate => c.toString // half a character, which has no number
    case _ => s"&#${c.toInt};"
  }
}
