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

  protected def get(path: String, headers: (String, String)*): (Int, String) = {
    val port = URI.create(spark.sparkContext.uiWebUrl.get).getPort
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

  protected def rows(table: Node): Seq[Map[String, String]] = {
    val headings = (table \ "thead" \ "tr" \ "th").map(_.text)
    (table \ "tbody" \ "tr").map(row => headings.zip((row \ "td").map(_.text.trim)).toMap)
  }
}
