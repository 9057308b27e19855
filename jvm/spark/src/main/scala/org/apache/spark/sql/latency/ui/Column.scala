package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text
import scala.xml.Utility

import io.sparklatency.answer.Readable
import io.sparklatency.drawing.XmlText.escape

/**
 * A column of a [[SortableTable]]: its heading, and how it shows a row. Immutable, for any thread. A cell costs one call of
 * `shown`.
 *
 * @param help  the tooltip of the heading
 * @param shown writes the cell of a row: the key by which the script sorts, and the content
 */
private[ui] final class Column[A](
    name: String,
    help: String,
    kind: String,
    shown: (A, Column.Cell) => Unit,
    more: String = ""
) {

  /** Cells of numbers are most, and have none. */
  private val style = (if (kind == Column.Numeric) more else s"latency-text $more").trim
  private val begin = if (style.isEmpty) "<td" else "<td class=\"" + style + "\""

  def heading(text: StringBuilder): Unit = {
    text ++= "<th class=\"" ++= s"$kind $style".trim ++= "\" title=\""
    escape(help, text)
    text ++= "\">"
    escape(name, text)
    text ++= "</th>"
    ()
  }

  def cell(row: A, cell: Column.Cell): Unit = {
    cell.text ++= begin
    shown(row, cell)
    cell.text ++= "</td>"
    ()
  }
}

private[ui] object Column {

  /** How Spark's script sorts it. */
  val Numeric = "sorttable_numeric"
  val Alphabetic = "sorttable_alpha"

  /** Sorts below every figure, also negative ones. No exponent: the script cannot read one. */
  val BelowAll = "-99999999999999"

  /** The key of less than one percent. */
  private val BelowOne = "0.5"

  /** What is unknown, behind its key: a page may have hundreds of them. */
  private val Unknown = {
    val text = new StringBuilder
    escape(Readable.Unknown, new Cell(text).key(BelowAll))
    text.result()
  }

  /**
   * Writes what is in a cell. A key comes first, and only where the script would not sort by what is seen: of a number it takes digits,
   * points and signs, and nothing else.
   */
  final class Cell(val text: StringBuilder) {
    def key(key: String): StringBuilder = {
      text ++= " sorttable_customkey=\""
      escape(key, text)
      text ++= "\">"
    }

    def withoutKey: StringBuilder = text += '>'

    def plain(content: String): Unit = escape(content, withoutKey)

    /** @param write writes a number, in which nothing is to be escaped, behind a text */
    def number[N](of: Option[N])(write: (N, StringBuilder) => Unit): Unit = of match {
      case Some(known) => write(known, withoutKey)
      case None => unknown()
    }

    def share(shown: Option[String]): Unit = shown match {
      case Some(read) if !read.startsWith("<") => // nothing in it is to be escaped
        withoutKey ++= read
        ()
      case Some(little) => escape(little, key(BelowOne))
      case None => unknown()
    }

    private def unknown(): Unit = {
      text ++= Unknown
      ()
    }

    def elements(key: String, content: NodeSeq): Unit = content match {
      case Text(seen) if seen == key => plain(seen)
      case _ =>
        this.key(key)
        written(content)
    }

    def written(content: NodeSeq): Unit = content.foreach {
      case only: Text => escape(only.data, text)
      case other => Utility.serialize(other, sb = text)
    }
  }
}
