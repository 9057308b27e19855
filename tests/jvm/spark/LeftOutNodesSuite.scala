package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.logging.log4j.Level
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQuery

/** What the log and the notes say of nodes and timestamps that a query was planned without. */
class LeftOutNodesSuite extends StreamingTest {

  /** A query of which no timestamp comes to the end: what the log and the notes say of that, and which nodes there are. */
  private def withoutTimestampAtItsEnd(name: String): (Seq[String], Seq[String], Seq[String]) = {
    val input = stream
    val (log, notes) = told(start(watermarked(input).select(lit(1).as("one")).repartition(2), name), input)
    (log, notes, nodesOf(name))
  }

  /** What the log and the notes say of the nodes of a query, over three batches. */
  private def told(query: StreamingQuery, inputs: MemoryStream[Timestamp]*): (Seq[String], Seq[String]) =
    try {
      val log = Logged.from(Level.INFO) {
        for (ms <- 1L to 3L) {
          inputs.foreach(_.addData(ago(ms)))
          processAll(query)
        }
      }
      val notes = latencyOf(query.name).get("queries").elements.asScala.next().get("notes").elements.asScala
        .filter(_.get("code").asText == "left-out")
        .map(note => s"${note.get("level").asText}: ${note.get("text").asText}")
      (log.collect { case (level, text) if text.contains(": node '") => s"$level: $text" }, notes.toSeq)
    } finally query.stop()

  private val lost =
    "no column there is known to hold a record timestamp: 'one'; the projection to one drops 'value': keep it there; " +
      "spark.sparklatency.auto.acrossShuffles=true takes it there"

  test("a place to which no timestamp survives is left out, and the log says so once, and a note") {
    withSettings(atEnds: _*) {
      val (log, notes, nodes) = withoutTimestampAtItsEnd("auto_none")
      assert(nodes === Seq("source-0-memory"))
      assert(log === Seq(s"WARN: query 'auto_none': node 'sink' is left out: $lost"))
      assert(notes === Seq(s"info: Node 'sink' is left out: $lost."))
    }
  }

  test("a timestamp that no watermark tells of is named, at a source and behind it") {
    withSettings(atEnds: _*) {
      val input = stream
      val (_, notes) = told(start(input.toDF().withColumn("work", slow(0)(lit(1L))), "auto_untold"), input)
      assert(notes.map(_.takeWhile(_ != ';')).toSet === Set(
        "info: Node 'source-0-memory' is left out: no column there is known to hold a record timestamp: 'value'",
        "info: Node 'sink' is left out: no column there is known to hold a record timestamp: 'value', 'work'"
      ))
      assert(notes.forall(_.contains("; a watermark on 'value' makes it one")), notes)
      assert(notes.count(_.contains("; with_ingestion_timestamp and ")) === 1, notes)
    }
  }

  test("of a union of which one side has no record timestamp the note blames no union, and names the remedy") {
    withSettings(atEnds: _*) {
      val (live, old) = (stream, stream)
      val (_, notes) = told(start(old.toDF().union(watermarked(live)), "auto_one_side"), live, old)
      assert(notes.filter(_.contains("'sink'")) === Seq(
        "info: Node 'sink' is left out: no column there is known to hold a record timestamp: 'value'; " +
          "a watermark on 'value' makes it one."
      ))
      val (kept, dropped) = (stream, stream)
      val lost = watermarked(dropped).select(timestamp_millis(lit(0L)).as("value")).repartition(2)
      val (_, others) = told(start(lost.union(watermarked(kept)), "auto_side_lost"), kept, dropped)
      assert(others.filter(_.contains("'sink'")).map(_.split("; ").toSeq.take(2)) === Seq(Seq(
        "info: Node 'sink' is left out: no column there is known to hold a record timestamp: 'value'",
        "the projection to value drops 'value': keep it there"
      )))
    }
  }

  test("an end whose id has a node by hand is left out, also where a timestamp could come along") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val input = stream
      val query = start(watermarked(input).withE2ELatency("sink").select(lit(1).as("one")), "auto_same_id")
      val (log, notes) = told(query, input)
      val said = "node 'sink' is left out: a node written by hand has this id"
      assert(log === Seq(s"WARN: query 'auto_same_id': $said"))
      assert(notes === Seq(s"info: ${said.capitalize}."))
      assert(node("sink", "auto_same_id").records === 3)
    }
  }

  test("with latency markers the place is there, and they say as well which step lost its timestamp") {
    withSettings(
      "spark.sparklatency.auto" -> "source,terminal",
      "spark.sparklatency.markers.interval" -> "1s"
    ) {
      val (log, notes, nodes) = withoutTimestampAtItsEnd("auto_none_marked")
      assert(nodes === Seq("source-0-memory", "sink"))
      assert(log === Seq(s"WARN: query 'auto_none_marked': node 'sink' has no timestamp: $lost"))
      assert(notes === Seq(s"info: Node 'sink' has no timestamp: $lost."))
    }
  }

  test(
    "of a node that the query's level leaves out the log and the notes say that its timestamp goes with it"
  ) {
    withSettings("spark.sparklatency.recording.level.left_by_level" -> "INFO") {
      val input = stream
      def marked(level: String) = watermarked(input).withIngestionTimestamp("read at")
        .withE2ELatency("detail", "`read at`", level).withE2ELatency("end", "value").select("value")
      withSettings("spark.sparklatency.recording.level" -> "TRACE") {
        val (log, notes) = told(start(marked("TRACE"), "left_by_level"), input)
        val said =
          "node 'detail' is left out: the query does not record its level, TRACE; 'read at' stays only as far as others " +
            "read it; spark.sparklatency.forceTimestampSupport=true keeps it"
        // Who has chosen the level is not warned of it.
        assert(log === Seq(s"INFO: query 'left_by_level': $said"))
        assert(notes.filter(_.contains("detail")) === Seq(s"info: ${said.capitalize}."))
        assert(nodesOf("left_by_level") === Seq("end"))
        assert(told(start(marked("TRACE"), "left_nothing"), input) === ((Nil, Nil)))
      }
    }
  }
}
