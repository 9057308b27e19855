package io.sparklatency.spark

import scala.xml.Node
import scala.xml.XML

/** Pages of the live UI, and the tables in them. */
trait PagesTest extends StreamingTest with Ui {

  /** The elements of a page with an id or class, which are well-formed by themselves; not all of Spark's page is. */
  protected def table(page: String, id: String): Node = {
    val start = page.indexOf(s"""<table id="$id"""")
    assert(start >= 0, s"there is no table '$id' in $page")
    XML.loadString(page.substring(
      start,
      page.indexOf("</table>", start) + "</table>".length
    ).replace("&nbsp;", " "))
  }

  protected def rows(table: Node): Seq[Map[String, String]] =
    cells(table).map(_.map { case (heading, cell) => heading -> cell.text.trim })

  /** The same with all that is in a cell. */
  protected def cells(table: Node): Seq[Map[String, Node]] =
    (table \ "tbody" \ "tr").map(row => headings(table).zip(row \ "td").toMap)

  /** From left to right. */
  protected def headings(table: Node): Seq[String] = (table \ "thead" \ "tr" \ "th").map(_.text)
}
