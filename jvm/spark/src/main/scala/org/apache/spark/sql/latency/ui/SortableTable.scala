package org.apache.spark.sql.latency.ui

import scala.xml.Elem
import scala.xml.NodeSeq
import scala.xml.Text
import scala.xml.Unparsed
import scala.xml.Utility

import io.sparklatency.answer.Readable

/**
 * A table in Spark's style. Spark's own script sorts it in the browser when a heading is clicked, without another request.
 * Costs a cell for each row and column, a microsecond each: they are written as text at once, for a page has a thousand of them,
 * and elements would take longer than all else on it. Without state, for any thread.
 */
private[ui] object SortableTable {

  def apply[A](id: String, columns: Seq[Column[A]])(rows: Seq[A]): Elem =
    <div class="latency-scroll">
      <table id={id} class="table table-bordered table-sm table-striped sortable">
        <thead><tr>{columns.map(_.heading)}</tr></thead>
        <tbody>{Unparsed(cells(columns, rows))}</tbody>
      </table>
    </div>

  private def cells[A](columns: Seq[Column[A]], rows: Seq[A]): String = {
    val text = new StringBuilder
    for (row <- rows) {
      text ++= "<tr>"
      columns.foreach(_.cell(row, text))
      text ++= "</tr>"
    }
    text.result()
  }
}

/**
 * A column of a [[SortableTable]]: its heading, and how it shows a row. Immutable, for any thread. A cell costs one call of
 * `shown`.
 *
 * @param help  the tooltip of the heading
 * @param shown the content of the cell, and the key by which the script sorts
 */
private[ui] final class Column[A] private (
    name: String,
    help: String,
    kind: String,
    shown: A => (NodeSeq, String),
    more: String = ""
) {
  private val style = (if (kind == Column.Numeric) "latency-number " else "latency-text ") + more

  def heading: Elem = <th class={s"$kind $style"} title={help}>{name}</th>

  /** Writes `<td class={style} sorttable_customkey={key}>{content}</td>`. */
  def cell(row: A, text: StringBuilder): Unit = {
    val (content, key) = shown(row)
    text ++= "<td class=\"" ++= style ++= "\" sorttable_customkey=\""
    Column.escape(key, text)
    text ++= "\">"
    content.foreach {
      case only: Text => Column.escape(only.data, text)
      case other => Utility.serialize(other, sb = text)
    }
    text ++= "</td>"
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

  def text[A](name: String, help: String)(key: A => String)(shown: A => NodeSeq): Column[A] =
    new Column(name, help, Alphabetic, row => (shown(row), key(row)))

  def count[A](name: String, help: String)(value: A => Option[Long]): Column[A] =
    number(name, help)(value)(_.toString)(Readable.count)

  /** A node by its id, with a link: written as text, as a page has two for each node. */
  def node[A](help: String)(id: A => String)(link: String => String): Column[A] =
    text[A]("Node", help)(id) { row =>
      val (whole, written) = (id(row), new StringBuilder("<a href=\""))
      val short = Readable.shortened(whole, LatencyPage.NameLength)
      escape(link(whole), written)
      written ++= "\"><span"
      if (short != whole) {
        written ++= " title=\""
        escape(whole, written)
        written += '"'
      }
      written += '>'
      escape(short, written)
      Unparsed((written ++= "</span></a>").result())
    }

  /** A number with a link, where there is one. */
  def linked[A](name: String, help: String)(value: A => Long)(link: A => Option[String]): Column[A] =
    new Column[A](
      name,
      help,
      Numeric,
      row => {
        val shown = Text(Readable.count(value(row)))
        (link(row).fold[NodeSeq](shown)(href => <a href={href}>{shown}</a>), value(row).toString)
      }
    )

  /** Milliseconds, and something beside them. */
  def exactWith[A](name: String, help: String)(value: A => Option[Long])(beside: A => NodeSeq): Column[A] =
    new Column[A](
      name,
      help,
      Numeric,
      row => {
        val text = Text(value(row).fold(Readable.Unknown)(Readable.count))
        (text ++ beside(row), value(row).fold(BelowAll)(_.toString))
      }
    )

  /** Text that may take several lines. */
  def wrapped[A](name: String, help: String)(key: A => String)(shown: A => NodeSeq): Column[A] =
    new Column(name, help, Alphabetic, row => (shown(row), key(row)), "latency-wrapped")

  /** Milliseconds. */
  def exact[A](name: String, help: String)(value: A => Option[Long]): Column[A] = count(name, help)(value)

  /** A mean, in milliseconds. */
  def mean[A](name: String, help: String)(value: A => Option[Double]): Column[A] =
    number(name, help)(value)(plain)(Readable.milliseconds)

  def share[A](name: String, help: String)(value: A => Option[Double]): Column[A] =
    number(name, help)(value)(plain)(Readable.percent)

  private def number[A, N](
      name: String,
      help: String
  )(value: A => Option[N])(key: N => String)(shown: N => String) =
    new Column[A](
      name,
      help,
      Numeric,
      row =>
        value(row).fold((Text(Readable.Unknown): NodeSeq, BelowAll))(n =>
          (Text(shown(n)), key(n))
        )
    )

  /** Most cells hold a figure, in which nothing is to be escaped. */
  private def escape(raw: String, text: StringBuilder): Unit = {
    var i = 0
    while (i < raw.length && isPlain(raw.charAt(i))) i += 1
    if (i == raw.length) text ++= raw else Utility.escape(raw, text)
    ()
  }

  private def isPlain(char: Char): Boolean =
    char >= ' ' && char != '<' && char != '>' && char != '&' && char != '"'

  private def plain(value: Double): String = {
    val text = value.toString
    if (text.contains('E')) BigDecimal(text).bigDecimal.toPlainString else text
  }
}
