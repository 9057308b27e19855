package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.Readable
import io.sparklatency.drawing.XmlText.escape
import org.apache.spark.sql.latency.history.StoredBatch
import org.apache.spark.sql.latency.ui.Column.Alphabetic
import org.apache.spark.sql.latency.ui.Column.BelowAll
import org.apache.spark.sql.latency.ui.Column.Numeric
import org.apache.spark.ui.UIUtils

/**
 * The kinds of columns of a [[SortableTable]] whose rows are `A`. Those of numbers show an unknown value as an en dash, and sort it below
 * all figures. Without state, for any thread.
 */
private[ui] final class Columns[A] {

  def text(name: String, help: String, more: String = "")(key: A => String)(shown: A => NodeSeq): Column[A] =
    new Column(name, help, Alphabetic, (row, cell) => cell.elements(key(row), shown(row)), more)

  /** Text that sorts as it is seen. */
  def plain(name: String, help: String)(shown: A => String): Column[A] =
    new Column(name, help, Alphabetic, (row, cell) => cell.plain(shown(row)))

  /** A moment, in milliseconds since the epoch. */
  def time(name: String, help: String)(ms: A => Option[Long]): Column[A] =
    text(name, help)(ms(_).fold("")(StoredBatch.sorted))(row =>
      Text(ms(row).fold(Readable.Unknown)(UIUtils.formatDate))
    )

  /** Text that may take several lines. */
  def wrapped(name: String, help: String)(key: A => String)(shown: A => NodeSeq): Column[A] =
    text(name, help, "latency-wrapped")(key)(shown)

  /** A whole number, also of milliseconds. */
  def count(name: String, help: String)(value: A => Option[Long]): Column[A] =
    number(name, help)(value)(Readable.addCount)

  /** A node by its id, with a link: written as text, as a page has two for each node. */
  def node(help: String)(id: A => String)(link: String => String): Column[A] =
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
  def linked(name: String, help: String)(value: A => Long)(link: A => Option[String]): Column[A] =
    new Column(
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
  def exactWith(name: String, help: String)(value: A => Option[Long])(beside: A => NodeSeq): Column[A] =
    new Column(
      name,
      help,
      Numeric,
      (row, cell) => {
        val text = Text(value(row).fold(Readable.Unknown)(Readable.count))
        cell.elements(value(row).fold(BelowAll)(_.toString), text ++ beside(row))
      }
    )

  /** A mean, in milliseconds. */
  def mean(name: String, help: String)(value: A => Option[Double]): Column[A] =
    number(name, help)(value)(Readable.addMilliseconds)

  def share(name: String, help: String)(value: A => Option[Double]): Column[A] =
    new Column(name, help, Numeric, (row, cell) => cell.share(value(row).map(Readable.percent)))

  private def number[N](name: String, help: String)(value: A => Option[N])(
      write: (N, StringBuilder) => Unit
  ): Column[A] =
    new Column(name, help, Numeric, (row, cell) => cell.number(value(row))(write))
}
