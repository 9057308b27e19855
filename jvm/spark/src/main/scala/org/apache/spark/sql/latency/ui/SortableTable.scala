package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text
import scala.xml.Unparsed
import scala.xml.Utility

import io.sparklatency.answer.Readable

/**
 * A table in Spark's style. Spark's own script sorts it in the browser when a heading is clicked, without another request.
 * Costs a cell for each row and column, half a microsecond each: all is written as text at once, for a page has a thousand of them,
 * and elements would take longer than all else on it. Without state, for any thread.
 */
private[ui] object SortableTable {

  def apply[A](id: String, columns: Seq[Column[A]])(rows: Seq[A]): NodeSeq =
    written(id, columns)(text => rows.foreach(write(columns, _, text)))

  /** @param rows as [[row]] writes them */
  def of(id: String, columns: Seq[Column[_]], rows: Seq[String]): NodeSeq =
    written(id, columns)(text => rows.foreach(text ++= _))

  /** A row, for whoever shows it again and again. */
  def row[A](columns: Seq[Column[A]], row: A): String = {
    val text = new StringBuilder
    write(columns, row, text)
    text.result()
  }

  private def write[A](columns: Seq[Column[A]], row: A, text: StringBuilder): Unit = {
    val cell = new Column.Cell(text)
    text ++= "<tr>"
    columns.foreach(_.cell(row, cell))
    text ++= "</tr>"
    ()
  }

  private def written(id: String, columns: Seq[Column[_]])(rows: StringBuilder => Unit): NodeSeq = {
    val text = new StringBuilder
    text ++= "<div class=\"latency-scroll\">\n      <table id=\"" ++= id
    text ++= "\" class=\"table table-bordered table-sm table-striped sortable\">\n        <thead><tr>"
    columns.foreach(_.heading(text))
    text ++= "</tr></thead>\n        <tbody>"
    rows(text)
    text ++= "</tbody>\n      </table>\n    </div>"
    Unparsed(text.result())
  }
}

/**
 * A column of a [[SortableTable]]: its heading, and how it shows a row. Immutable, for any thread. A cell costs one call of
 * `shown`.
 *
 * @param help  the tooltip of the heading
 * @param shown writes the cell of a row: the key by which the script sorts, and the content
 */
private[ui] final class Column[A] private (
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
    Column.escape(help, text)
    text ++= "\">"
    Column.escape(name, text)
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

/**
 * The kinds of columns. Those of numbers show an unknown value as an en dash, and sort it below all figures. Without state,
 * for any thread.
 */
private[ui] object Column {
  private val Numeric = "sorttable_numeric"
  private val Alphabetic = "sorttable_alpha"

  /** Sorts below every figure, also negative ones. No exponent: the script cannot read one. */
  private val BelowAll = "-99999999999999"

  /** The key of less than one percent. */
  private val BelowOne = "0.5"

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

    def number(shown: Option[String]): Unit = shown match {
      case Some(read) if !read.startsWith("<") => // nothing in it is to be escaped
        withoutKey ++= read
        ()
      case Some(little) => escape(little, key(BelowOne))
      case None => escape(Readable.Unknown, key(BelowAll))
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

  def text[A](name: String, help: String, more: String = "")(key: A => String)(
      shown: A => NodeSeq
  ): Column[A] =
    new Column(name, help, Alphabetic, (row, cell) => cell.elements(key(row), shown(row)), more)

  /** Text that sorts as it is seen. */
  def plain[A](name: String, help: String)(shown: A => String): Column[A] =
    new Column(name, help, Alphabetic, (row, cell) => cell.plain(shown(row)))

  /** Text that may take several lines. */
  def wrapped[A](name: String, help: String)(key: A => String)(shown: A => NodeSeq): Column[A] =
    text(name, help, "latency-wrapped")(key)(shown)

  /** A whole number, also of milliseconds. */
  def count[A](name: String, help: String)(value: A => Option[Long]): Column[A] =
    number(name, help)(value)(Readable.count)

  /** A node by its id, with a link: written as text, as a page has two for each node. */
  def node[A](help: String)(id: A => String)(link: String => String): Column[A] =
    new Column(
      "Node",
      help,
      Alphabetic,
      (row, cell) => {
        val whole = id(row)
        val short = Readable.shortened(whole, LatencyPage.NameLength)
        val written = (if (short == whole) cell.withoutKey else cell.key(whole)) ++= "<a href=\""
        escape(link(whole), written)
        if (short != whole) {
          written ++= "\" title=\""
          escape(whole, written)
        }
        written ++= "\">"
        escape(short, written)
        written ++= "</a>"
        ()
      }
    )

  /** A number with a link, where there is one. */
  def linked[A](name: String, help: String)(value: A => Long)(link: A => Option[String]): Column[A] =
    new Column[A](
      name,
      help,
      Numeric,
      (row, cell) => {
        val shown = Text(Readable.count(value(row)))
        cell.withoutKey
        cell.written(link(row).fold[NodeSeq](shown)(href => <a href={href}>{shown}</a>))
      }
    )

  /** Milliseconds, and something beside them. */
  def exactWith[A](name: String, help: String)(value: A => Option[Long])(beside: A => NodeSeq): Column[A] =
    new Column[A](
      name,
      help,
      Numeric,
      (row, cell) => {
        val text = Text(value(row).fold(Readable.Unknown)(Readable.count))
        cell.elements(value(row).fold(BelowAll)(_.toString), text ++ beside(row))
      }
    )

  /** A mean, in milliseconds. */
  def mean[A](name: String, help: String)(value: A => Option[Double]): Column[A] =
    number(name, help)(value)(Readable.milliseconds)

  def share[A](name: String, help: String)(value: A => Option[Double]): Column[A] =
    number(name, help)(value)(Readable.percent)

  private def number[A, N](name: String, help: String)(value: A => Option[N])(shown: N => String) =
    new Column[A](name, help, Numeric, (row, cell) => cell.number(value(row).map(shown)))

  /** As Scala's XML does it, which takes a character at a time where one of them is to be escaped. */
  private def escape(raw: String, text: StringBuilder): Unit = {
    var (from, i) = (0, 0)
    while (i < raw.length) {
      if (!isPlain(raw.charAt(i))) {
        text ++= raw.substring(from, i)
        Utility.escape(raw.substring(i, i + 1), text)
        from = i + 1
      }
      i += 1
    }
    text ++= raw.substring(from)
    ()
  }

  private def isPlain(char: Char): Boolean =
    char >= ' ' && char != '<' && char != '>' && char != '&' && char != '"'
}
