package io.sparklatency.drawing

/**
 * Text as XML takes it, in an element or an attribute. What XML refuses, as control characters, is replaced. What needs more than a byte in
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
      val code = raw.codePointAt(to)
      text ++= raw.substring(from, to) ++= escaped(code)
      from = to + Character.charCount(code)
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
    c < plain.length && plain(c)

  /** Of what takes a byte in Java. A page looks at some thirty thousand characters. */
  private val plain: Array[Boolean] =
    Array.tabulate(0x100)(c => "&<>\"".indexOf(c) < 0 && !Character.isISOControl(c))

  private def escaped(code: Int): String = code match {
    case '&' => "&amp;"
    case '<' => "&lt;"
    case '>' => "&gt;"
    case '"' => "&quot;"
    case '\n' | '\r' | '\t' => code.toChar.toString
    case _ if isRefused(code) => "&#65533;"
    case _ => s"&#$code;"
  }

  /** A control character, half of a character, or one that is none. */
  private def isRefused(code: Int): Boolean =
    Character.isISOControl(code) || code >= 0xd800 && code <= 0xdfff || (code & 0xfffe) == 0xfffe
}
