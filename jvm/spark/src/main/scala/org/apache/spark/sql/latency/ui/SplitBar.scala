package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.Parts

/**
 * The mean age of records at the commit as one bar of its parts. It shows nothing where they are unknown. Shows what it is
 * given and reads no figures. Without state; made by a thread of the web server.
 */
private[ui] object SplitBar {

  def apply(parts: Parts): NodeSeq = NodeSeq.fromSeq(parts.text.toSeq.flatMap { text =>
    <div class="latency-split" role="img" aria-label={text}>
      {
      parts.of.map(part =>
        <div class={colour(part)} title={part.text} style={s"flex: ${part.share} 1 0"}></div>
      )
    }
    </div> ++
      <p class="mb-0">
        {keyed(parts, text)}
      </p>
  })

  /** The sentence, with a key of its colour before each part, on the same line as the first word. */
  private def keyed(parts: Parts, text: String): NodeSeq =
    parts.of.foldLeft((NodeSeq.Empty, text)) { case ((made, rest), part) =>
      val (before, after) = rest.splitAt(rest.indexOf(part.text))
      val (first, others) = part.text.span(_ != ' ')
      val keyed = <span class="text-nowrap"><span class={s"latency-key ${colour(part)}"}></span>{first}</span>
      (made ++ Text(before) ++ keyed ++ Text(others), after.drop(part.text.length))
    } match { case (made, rest) => made ++ Text(rest) }

  /** Where parts cannot be told apart they are one, with the colour of the last. */
  private def colour(part: Parts.Part): String = s"latency-part latency-part-${part.kinds.last.code}"
}
