package org.apache.spark.sql.latency

import java.net.URI

import scala.jdk.CollectionConverters._
import scala.xml.XML

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Readable
import io.sparklatency.spark.PythonApi
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.Ui
import org.apache.spark.SecurityManager
import org.apache.spark.SparkConf
import org.apache.spark.sql.Row
import org.apache.spark.sql.latency.application.LatencyHistory
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.status.AppStatusStore
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore

/** What every surface says of a query: in the application, and in a History Server that has read its events. */
trait EverySurface extends Ui { this: StreamingTest =>
  import EverySurface._

  protected val mapper = new ObjectMapper

  protected def store: LatencyStore = LiveStore.of(spark.sparkContext)

  protected def answerOf(query: StreamingQuery): QueryAnswer =
    store.answer(store.query(query.runId.toString).get)

  protected def saidEverywhere(name: String, answer: QueryAnswer): Unit = {
    val expected = of(answer)
    assert(said(PythonApi.latencyJson(spark, name)) === expected)
    assert(sql(name).toSet === Set(expected) && sql(name).size === answer.query.nodes.size)
    val live = spark.sparkContext.uiWebUrl.get
    assert(said(answered(s"$live/api/v1/latency/queries/$name")) === expected)
    assert(page(answered(s"$live/latency/query/?id=$name")) === page(answer))
  }

  protected def saidByHistoryServer(name: String, query: StreamingQuery, answer: QueryAnswer): Unit =
    withHistoryServer(query) { server =>
      val rest = answered(s"${spark.sparkContext.uiWebUrl.get}/api/v1/latency/queries/$name")
      assert(answered(s"$server/api/v1/applications/$App/latency/queries/$name") == rest, "REST of both")
      assert(page(answered(s"$server/latency/query/?id=$name")) === page(answer))
    }

  /** A UI as the History Server makes one, of what the application's event log would hold of a run. */
  protected def withHistoryServer(query: StreamingQuery)(check: String => Unit): Unit = {
    val (kv, application) = (new InMemoryStore, store)
    val archive = new BatchArchive(kv, kept = 100)
    application.history(application.query(query.runId.toString).get).foreach { batch =>
      val line = JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(batch))
      archive.onOtherEvent(JsonProtocol.sparkEventFromJson(line))
    }
    archive.onOtherEvent(new QueryTerminatedEvent(query.id, query.runId, None, None))
    val conf = new SparkConf(false).set("spark.ui.port", "0")
    val ui = SparkUI.create(None, new AppStatusStore(kv), conf, new SecurityManager(conf), App, "", 0)
    ui.setAppId(App)
    new LatencyHistory().setupUI(ui)
    ui.bind()
    ui.attachAllHandlers()
    try check(ui.webUrl)
    finally ui.stop()
  }

  protected def answered(url: String): String = {
    val there = URI.create(url)
    val path = there.getRawPath + Option(there.getRawQuery).fold("")("?" + _)
    val (status, body) = getAt(there.getPort, path)
    assert(status === 200, body)
    body
  }

  protected def of(answer: QueryAnswer): Said = Said(
    answer.headline.text,
    answer.parts.of.map(part => (part.name, part.ms, part.share)),
    answer.notes.map(_.text),
    answer.status.map(_.name),
    answer.headline.code.name,
    answer.progress.text
  )

  private def said(json: String): Said = {
    val query = mapper.readTree(json).get("queries").get(0)
    val parts = query.get("parts").get("of").elements.asScala.map { part =>
      val (names, ms) =
        (part.get("names").elements.asScala.map(_.asText).mkString(" and "), part.get("ms").asDouble)
      // What stands behind the names says where it was.
      val name = part.get("text").asText.stripSuffix(s" ${Readable.duration(ms)}")
      assert(name.startsWith(names))
      (name, ms, part.get("share").asDouble)
    }
    val notes = query.get("notes").elements.asScala.map(_.get("text").asText)
    def text(of: JsonNode) = Option(of).filterNot(_.isNull).map(_.asText)
    Said(
      query.get("headline").get("text").asText,
      parts.toSeq,
      notes.toSeq,
      text(query.get("status")),
      query.get("headline").get("code").asText,
      text(query.get("progress").get("text"))
    )
  }

  private def sql(name: String): Seq[Said] =
    spark.sql(
      s"SELECT headline, parts, notes, status, cause, progress FROM e2e_latency() WHERE query = '$name'"
    ).collect().toSeq.map(said)

  private def said(row: Row): Said = {
    val parts = row.getSeq[Row](1).map(part => (part.getString(0), part.getDouble(1), part.getDouble(2)))
    Said(
      row.getString(0),
      parts.toSeq,
      row.getSeq[String](2).toSeq,
      Option(row.getString(3)),
      row.getString(4),
      Option(row.getString(5))
    )
  }

  private def page(answer: QueryAnswer): Page =
    Page(
      answer.headline.text,
      answer.parts.text.toSeq,
      answer.notes.map(_.text),
      answer.progress.text.toSeq
    )

  /** What a browser shows of a page's first lines. */
  private def page(html: String): Page = {
    def texts(style: String): Seq[String] = {
      val start = s"""<p class="latency-$style"""
      html.split(start, -1).toSeq.tail.map(rest => start + rest.take(rest.indexOf("</p>")) + "</p>")
        .map(XML.loadString(_).text.trim.replaceAll("\\s+", " "))
    }
    val bar = """<div class="latency-split"[^>]* aria-label="([^"]*)"""".r
    Page(
      texts("headline").head,
      bar.findAllMatchIn(html).map(_.group(1)).toSeq,
      texts("note "),
      texts("note\">")
    )
  }
}

object EverySurface {
  val App = "one-answer"

  final case class Said(
      headline: String,
      parts: Seq[(String, Double, Double)],
      notes: Seq[String],
      status: Option[String],
      cause: String,
      progress: Option[String]
  )

  final case class Page(
      headline: String,
      parts: Seq[String],
      notes: Seq[String],
      progress: Seq[String]
  )
}
