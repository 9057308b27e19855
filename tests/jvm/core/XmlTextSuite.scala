package io.sparklatency

import scala.xml.XML

import io.sparklatency.drawing.XmlText
import org.scalatest.funsuite.AnyFunSuite

/** Names that anybody may have given, as pages and drawings write them. */
class XmlTextSuite extends AnyFunSuite {
  test("what XML would take for its own is escaped, and a control character that it refuses replaced") {
    assert(XmlText.escape("a<b> & \"c\"'\u0007\u0085\n\t") ===
      "a&lt;b&gt; &amp; &quot;c&quot;'&#65533;&#65533;\n\t")
  }

  test(
    "what needs more than a byte is written by its number, and half a character, which has none, is replaced"
  ) {
    assert(XmlText.escape("– é · parse…v2 🙂") === "&#8211; é · parse&#8230;v2 &#128578;")
    assert(XmlText.escape("\ud83d|\ude42|\uffff") === "&#65533;|&#65533;|&#65533;")
  }

  test("XML reads it again, within an element and an attribute") {
    val raw = "</title><script>\"'&amp; – 東京 🙂"
    val read = XML.loadString(s"""<a b="${XmlText.escape(raw)}">${XmlText.escape(raw)}</a>""")
    assert((read.text, read \@ "b") === ((raw, raw)))
  }

  test("it is written behind a text, and a text without any of that is given back as it is") {
    val text = new StringBuilder("<b>")
    XmlText.escape("a & b", text)
    assert(text.result() === "<b>a &amp; b")
    val plain = "p99 of node-1 · 4.2 s"
    assert(XmlText.escape(plain) eq plain)
  }
}
