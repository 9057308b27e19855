package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions._

/** What the log and the notes say of nodes and timestamps that a query was planned without. */
class LeftOutNodesSuite extends StreamingTest {

  /** A query of which no timestamp comes to the end: what the log and the notes say of that, and which nodes there are. */
  private def withoutTimestampAtItsEnd(name: String): (Seq[String], Seq[String], Seq[String]) = {
    val input = stream
    val query = start(watermarked(input).select(lit(1).as("one")).repartition(2), name)
    try {
      val log = Logged.during {
        for (ms <- 1L to 3L) {
          input.addData(ago(ms))
          query.processAllAvailable()
        }
      }
      val notes = latencyOf(name).get("queries").elements.asScala.next().get("notes").elements.asScala
        .filter(_.get("code").asText == "left-out")
        .map(note => s"${note.get("level").asText}: ${note.get("text").asText}")
      (log.filter(_.contains("node 'sink'")), notes.toSeq, nodesOf(name))
    } finally query.stop()
  }

  private val lost =
    "no column there holds a record timestamp: 'one'; the projection to one drops 'value': keep it there"

  test("a place to which no timestamp survives is left out, and the log says so once, and a note") {
    withSettings("spark.sparklatency.auto" -> "source,terminal") {
      val (log, notes, nodes) = withoutTimestampAtItsEnd("auto_none")
      assert(nodes === Seq("source-0-memory"))
      assert(log === Seq(s"query 'auto_none': node 'sink' is left out: $lost"))
      assert(notes === Seq(s"info: Node 'sink' is left out: $lost."))
    }
  }

  test("with latency markers the place is there, and they say as well which step lost its timestamp") {
    withSettings(
      "spark.sparklatency.auto" -> "source,terminal",
      "spark.sparklatency.markers.interval" -> "1s"
    ) {
      val (log, notes, nodes) = withoutTimestampAtItsEnd("auto_none_marked")
      assert(nodes === Seq("source-0-memory", "sink"))
      assert(log === Seq(s"query 'auto_none_marked': node 'sink' has no timestamp: $lost"))
      assert(notes === Seq(s"info: Node 'sink' has no timestamp: $lost."))
    }
  }
}
