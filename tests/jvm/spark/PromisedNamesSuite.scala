package io.sparklatency.spark

import java.lang.management.ManagementFactory
import java.nio.file.Files
import java.nio.file.Path
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.streaming.StreamingQuery

/**
 * The names that `python/docs/stable.md` promises, as lists that stand beside the tests: who changes the one changes the other,
 * knowingly. `API_WRITE=1` writes them anew.
 */
class PromisedNamesSuite extends SystemTimeTest with Ui {
  private val Name = "promised"
  private val golden = Path.of("../../tests/python/golden")
  private val answer = Path.of("../core/src/main/scala/io/sparklatency/answer")

  test("fields of REST, and names of gauges and MBeans") {
    withSettings(everything :+ ("spark.sparklatency.markers.interval" -> "1s"): _*) {
      shop(_ => ()) // an earlier run
      shop { query =>
        val ids = nodesOf(Name)
        val documents = Seq("" -> "", s"/queries/$Name" -> "", s"/queries/$Name/batches" -> "") ++
          ids.map(id => s"/queries/$Name/operators/$id/partitions" -> "partitions of a node")
        assertFields(documents.map { case (path, name) => name -> json(path) })
        // When batches begin decides by which watermark a record is late, so of these the list is believed.
        val late = listed("names.txt").filter(name => name.contains("lateness") || name.contains("-late"))
        assertListed("names.txt", (patterns(query, ids) ++ late).distinct.sorted)
      }
    }
  }

  test("columns of e2e_latency()") {
    val columns =
      spark.sql("SELECT * FROM e2e_latency()").schema.map(one => s"${one.name}: ${one.dataType.sql}")
    assertListed("sql.txt", columns)
  }

  /** No run has them all: they are read off the code. */
  test("codes of notes, headlines and parts, and the numbers of notes") {
    val files = Files.list(answer).iterator.asScala.toSeq.sorted.filterNot(_.endsWith("Readable.scala"))
    val code = files.map(Files.readString(_)).mkString
    def all(what: String, pattern: String) =
      pattern.r.findAllMatchIn(code).map(found =>
        s"$what ${found.group(1).replace(' ', '-')}"
      ).toSeq.distinct.sorted
    assertListed(
      "codes.txt",
      all("headline", """extends Code\("([^"]+)"\)""") ++ all("part", """extends Kind\("([^"]+)"\)""") ++
        all("note", """(?:\b(?:Note|info|note)\(|\bdroppedLate\(\s*_,\s*[\w.]+,)\s*"([^"]+)"""") ++
        all("number", """"(\w+)" -> """) ++ all("level", """extends Level\("([^"]+)"\)""")
    )
  }

  /** With figures of every kind: two watermarks, by which records are late; one from the future; batches with and without records. */
  private def shop(check: StreamingQuery => Unit): Unit = {
    val (events, clocked) = (stream, stream)
    val marked = events.toDF().withWatermark("value", "10 seconds").withE2ELatency("first-mark")
    val query = start(marked.union(lagging(clocked)).groupBy("value").count(), Name, "update")
    val none = Seq.empty[Int]
    // As in SystemTimeLatenessSuite: 9 is late by the clock, 20 and 22 are late by the events.
    val steps =
      Seq(0 -> Seq(1), 20 -> none, 21 -> none, 21 -> Seq(9), 60 -> none, 61 -> none, 61 -> Seq(20, 22))
    try {
      events.addData(at(35))
      for ((second, byClock) <- steps)
        step(query, second)(if (byClock.nonEmpty) clocked.addData(at(byClock: _*)))
      step(query, 62)(events.addData(at(70, 61)))
      check(query)
    } finally query.stop()
  }

  private def step(query: StreamingQuery, second: Int)(add: => Any): Unit = {
    clock.set(Start + second * 1000L)
    add
    processAll(query)
  }

  /** Of a driver's UI, when all that has happened is in it. */
  private def json(path: String): JsonNode = {
    listen()
    new ObjectMapper().readTree(fetched(s"/api/v1/latency$path"))
  }

  /** Gauges, and MBeans with their attributes, with words for what others have chosen. */
  private def patterns(query: StreamingQuery, ids: Seq[String]): Seq[String] = {
    def pattern(name: String) = ids.sortBy(-_.length).foldLeft(name.replace(Name, "<query>"))((known, id) =>
      known.replace(id, "<node>")
    ).replaceAll("""\d+_\d+""", "<task>").replaceAll("""index([.=])\d+""", "index$1<partition>")
      .replaceAll("""(thread-id=<query>-|executor-id=|executor\.)\w+""", "$1<executor>")
    val server = ManagementFactory.getPlatformMBeanServer
    val ours = server.queryNames(new ObjectName("sparklatency:*"), null).asScala.toSeq
      .filter(bean => bean.toString.contains(Name) || bean.toString.contains("executor-id"))
    val beans = for (bean <- ours; attribute <- server.getMBeanInfo(bean).getAttributes)
      yield s"MBean ${pattern(bean.toString)} ${attribute.getName}"
    val shown =
      gauges.keys.filter(name => name.startsWith(s"query.${query.name}.") || name.startsWith("executor."))
    (beans ++ shown.map(name => s"gauge ${pattern(name)}")).distinct.sorted
  }

  /** What is null, or an empty list, hides what would be in it: of that the list is believed. */
  private def assertFields(documents: Seq[(String, JsonNode)]): Unit = {
    val all = documents.flatMap { case (name, json) => fields(name, json) }.filter(_._1.nonEmpty)
    val seen = all.groupMap(_._1)(_._2).map { case (path, types) =>
      path -> types.toSet.filter(_ != "null" || types.forall(_ == "null"))
    }
    val hidden =
      seen.collect { case (path, types) if types == Set("null") || types == Set("list") => path }.toSeq
    val before = listed("rest.txt").map(_.split(": ", 2)).collect { case Array(path, types) =>
      path -> types
    }.toMap
    def isHidden(path: String) =
      hidden.exists(at => path.startsWith(s"$at.") || (path.startsWith(s"$at[]") && !seen.contains(s"$at[]")))
    val now = before.filter { case (path, _) => isHidden(path) } ++ seen.map { case (path, types) =>
      path -> (if (types == Set("null")) before.getOrElse(path, "null")
               else types.toSeq.sorted.mkString(" or "))
    }
    assertListed("rest.txt", now.toSeq.sorted.map { case (path, types) => s"$path: $types" })
  }

  /** Objects whose fields are no names of ours. */
  private val Maps = Set("durations", "delays", "numbers")

  /** Objects that stand in several places, by the names of the fields there: they are told once. */
  private val Kinds = Map(
    "batches[]" -> "batch",
    "lastBatch" -> "batch",
    "operators" -> "work",
    "operatorsSoFar" -> "work",
    "partitions" -> "partitions",
    "split" -> "split"
  )

  private def fields(path: String, json: JsonNode): Seq[(String, String)] =
    Kinds.get(path.split('.').last) match {
      case Some(kind) if json.isObject && path != kind => (path -> kind) +: fieldsOf(kind, json)
      case _ => fieldsOf(path, json)
    }

  private def fieldsOf(path: String, json: JsonNode): Seq[(String, String)] =
    if (json.isObject) (path -> "object") +: json.properties.asScala.toSeq.flatMap { field =>
      val name = if (Maps(path.split('.').last)) "*" else field.getKey
      fields(if (path.isEmpty) name else s"$path.$name", field.getValue)
    }
    else if (json.isArray) (path -> "list") +: json.elements.asScala.toSeq.flatMap(fields(s"$path[]", _))
    else Seq(path -> (
      if (json.isNull) "null"
      else if (json.isIntegralNumber) "whole number"
      else json.getNodeType.toString.toLowerCase
    ))

  private def assertListed(file: String, names: Seq[String]): Unit = {
    if (sys.env.contains("API_WRITE")) Files.writeString(golden.resolve(file), names.map(_ + "\n").mkString)
    val kept = listed(file)
    if (names != kept)
      fail(s"$file: gone ${kept.diff(names)}, new ${names.diff(kept)}, or the order is another")
  }

  private def listed(file: String): Seq[String] =
    if (Files.exists(golden.resolve(file))) Files.readAllLines(golden.resolve(file)).asScala.toSeq else Nil
}
