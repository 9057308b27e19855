package io.sparklatency.spark

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers

import scala.xml.Node
import scala.xml.XML

/** The live UI, as a browser asks for it. */
trait PagesTest extends StreamingTest {
  protected val http = HttpClient.newHttpClient

  protected def get(path: String, headers: (String, String)*): (Int, String) =
    getAt(URI.create(spark.sparkContext.uiWebUrl.get).getPort, path, headers: _*)

  protected def getAt(port: Int, path: String, headers: (String, String)*): (Int, String) = {
    val request = headers.foldLeft(HttpRequest.newBuilder(URI.create(s"http://127.0.0.1:$port$path"))) {
      case (request, (name, value)) => request.header(name, value)
    }
    val response = http.send(request.build, BodyHandlers.ofString)
    (response.statusCode, response.body)
  }

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
