package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Unparsed

import io.sparklatency.answer.Parts
import io.sparklatency.drawing.XmlText.escape

/**
 * The mean age of records at the commit as one bar of its parts. It shows nothing where they are unknown. Shows what it is
 * given and reads no figures. Written as text: elements would take longer. Without state; made by a thread of the web server.
 */
private[ui] object SplitBar {

  def apply(parts: Parts): NodeSeq = parts.text.fold(NodeSeq.Empty) { sentence =>
    val parted = parts.of.map(part => (part, part.text, colour(part)))
    val text = new StringBuilder
    text ++= "<div class=\"latency-split\" role=\"img\" aria-label=\""
    escape(sentence, text)
    text ++= "\">"
    parted.foreach { case (part, words, colour) =>
      text ++= "<div class=\"" ++= colour ++= "\" title=\""
      escape(words, text)
      text ++= "\" style=\"flex: " ++= part.share.toString ++= " 1 0\"></div>"
    }
    text ++= "</div><p class=\"mb-0\">"
    // The sentence, with a key of its colour before each part, on the same line as the first word.
    val rest = parted.foldLeft(sentence) { case (rest, (_, words, colour)) =>
      val (before, after) = rest.splitAt(rest.indexOf(words))
      val (first, others) = words.span(_ != ' ')
      escape(before, text)
      text ++= "<span class=\"text-nowrap\"><span class=\"latency-key " ++= colour ++= "\"></span>"
      escape(first, text)
      text ++= "</span>"
      escape(others, text)
      after.drop(words.length)
    }
    escape(rest, text)
    text ++= "</p>"
    Unparsed(text.result())
  }

  /** Where parts cannot be told apart they are one, with the colour of the last. */
  private def colour(part: Parts.Part): String = s"latency-part latency-part-${part.kinds.last.code}"
}
