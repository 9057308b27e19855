package io.sparklatency.spark

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration

/** The live UI, as a browser or a program asks for it. One that hangs fails the test. */
trait Ui { this: SparkTest =>
  protected val http: HttpClient = HttpClient.newHttpClient

  /** The status, and what was sent with it. */
  protected def get(path: String, headers: (String, String)*): (Int, String) =
    getAt(URI.create(spark.sparkContext.uiWebUrl.get).getPort, path, headers: _*)

  protected def getAt(port: Int, path: String, headers: (String, String)*): (Int, String) = {
    val asked = HttpRequest.newBuilder(URI.create(s"http://127.0.0.1:$port$path"))
      .timeout(Duration.ofSeconds(Patience.Seconds))
    val request = headers.foldLeft(asked) { case (request, (name, value)) => request.header(name, value) }
    val response = http.send(request.build, BodyHandlers.ofString)
    (response.statusCode, response.body)
  }

  /** What is there. */
  protected def fetched(path: String): String = {
    val (status, body) = get(path)
    assert(status === 200, body)
    body
  }
}
