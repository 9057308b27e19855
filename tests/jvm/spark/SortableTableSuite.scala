package org.apache.spark.sql.latency.ui

import scala.xml.Text

import org.scalatest.funsuite.AnyFunSuite

/** What a table's cells say, and by what Spark's script sorts them. In Spark's package for its own. */
class SortableTableSuite extends AnyFunSuite {

  private def cells[A](column: Column[A])(rows: A*): Seq[String] =
    rows.map(SortableTable.row(Seq(column), _)).map(
      _.stripPrefix("<tr>").stripSuffix("</tr>")
    )

  private def key(of: String) = s"""sorttable_customkey="$of""""

  test("a number sorts by what is seen, as the script reads it") {
    assert(cells(new Columns[Long].count("Records", "")(Some(_)))(7, 1234567, -12) ===
      Seq("<td>7</td>", "<td>1,234,567</td>", "<td>-12</td>"))
    assert(cells(new Columns[Double].mean("Avg", "")(Some(_)))(0.04, -0.04, 1234.56) ===
      Seq("<td>0.0</td>", "<td>0.0</td>", "<td>1,234.6</td>"))
    assert(cells(new Columns[Double].share("Share", "")(Some(_)))(0, 0.614, 1) ===
      Seq("<td>0 %</td>", "<td>61 %</td>", "<td>100 %</td>"))
  }

  test("less than one percent sorts between none and one, and what is unknown below all figures") {
    assert(cells(new Columns[Double].share("Share", "")(Some(_)))(0.009) ===
      Seq(s"<td ${key("0.5")}>&lt; 1 %</td>"))
    assert(cells(new Columns[Double].mean("Avg", "")(_ => None))(1) ===
      Seq(s"<td ${key("-99999999999999")}>&#8211;</td>"))
  }

  test("a number with a link, or with something beside it") {
    val linked = new Columns[Long].linked("Batch", "")(identity)(n => Option.when(n > 1)(s"?a=1&b=$n"))
    assert(cells(linked)(1, 2000) === Seq("<td>1</td>", """<td><a href="?a=1&amp;b=2000">2,000</a></td>"""))
    val beside = new Columns[Option[Long]].exactWith("p99", "")(identity)(_ => <b>9</b>)
    assert(cells(beside)(Some(12), None) ===
      Seq(s"<td ${key("12")}>12<b>9</b></td>", s"<td ${key("-99999999999999")}>&#8211;<b>9</b></td>"))
  }

  test("text sorts by what is seen, unless it has a key of its own") {
    val column = new Columns[String].text("Upstream", "")(_.toLowerCase)(whole => Text(whole))
    assert(cells(column)("a<b", "A") ===
      Seq("""<td class="latency-text">a&lt;b</td>""", s"""<td class="latency-text" ${key("a")}>A</td>"""))
  }

  test("text without a key is written as it is, and may take several lines where it is said") {
    assert(cells(new Columns[String].plain("Executor", "")(identity))("a<b", "1") ===
      Seq("""<td class="latency-text">a&lt;b</td>""", """<td class="latency-text">1</td>"""))
    assert(cells(new Columns[String].wrapped("Query", "")(identity)(Text(_)))("b") ===
      Seq("""<td class="latency-text latency-wrapped">b</td>"""))
  }

  test("a node is a link; a long one is shortened, and sorts and is told by the whole of it") {
    val (node, long) =
      (new Columns[String].node("")(identity)(id => s"?node=${id.take(3)}#h"), "x\"" + "y" * 60)
    assert(cells(node)("src", long) === Seq(
      """<td class="latency-text"><a href="?node=src#h">src</a></td>""",
      s"""<td class="latency-text" ${key("x&quot;" + "y" * 60)}>""" +
        s"""<a href="?node=x&quot;y#h" title="x&quot;${"y" * 60}">x&quot;${"y" * 22}&#8230;${"y" * 23}</a></td>"""
    ))
  }
}
