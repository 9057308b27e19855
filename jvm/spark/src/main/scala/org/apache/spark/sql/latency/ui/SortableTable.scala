package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Unparsed

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
