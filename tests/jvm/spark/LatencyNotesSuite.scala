package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.answer.Note
import io.sparklatency.spark.StreamingTest
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.StoredNotes
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore

/** What planning has found in a run, in the event log and read from it. In Spark's package for what only ours may call. */
class LatencyNotesSuite extends StreamingTest with ArchivedBatches {
  private val line =
    """{"Event":"org.apache.spark.sql.latency.SparkListenerLatencyNote","runId":"run","code":"left-out",""" +
      """"level":"warn","text":"Node 'sink' is left out."}"""

  private def found(run: String, text: String): SparkListenerLatencyNote =
    SparkListenerLatencyNote(run, "left-out", "info", text)

  test(
    "why a place has no node is told from the event log as the application told it, once for all batches"
  ) {
    val (run, lines) = EventLog.during(spark.sparkContext) {
      val input = stream
      var run = ""
      withSettings(atEnds: _*) {
        val query = start(watermarked(input).select(lit(1).as("one")).repartition(2), "noted")
        run = query.runId.toString
        try for (ms <- 1L to 3L) {
            input.addData(ago(ms))
            processAll(query)
          }
        finally query.stop()
      }
      run
    }
    val application = LatencyApplication.running(spark.sparkContext).store
    val told = application.answer(application.query(run).get).notes
    assert(told.count(_.code == "left-out") === 1)
    val notes = lines.filter(_.contains("SparkListenerLatencyNote"))
    assert(notes.size === 1)

    val kv = new InMemoryStore
    val archive = new BatchArchive(kv, kept = 10)
    for (line <- lines) archive.onOtherEvent(JsonProtocol.sparkEventFromJson(line))
    val read = shown(kv)
    assert(read.answer(read.query(run).get).notes === told)
  }

  test("a note of an event log is read for all time, also one of a level that is not known") {
    def read(line: String) = JsonProtocol.sparkEventFromJson(line).asInstanceOf[SparkListenerLatencyNote]
    val expected = Note("left-out", Note.Warn, "Node 'sink' is left out.")
    assert(read(line).note === expected)
    assert(JsonProtocol.sparkEventToJsonString(SparkListenerLatencyNote("run", expected)) === line)
    assert(read(line.replace("warn", "loud")).note === expected.copy(level = Note.Info))
  }

  test("notes are kept with their runs, and of the last hundred others; a hundred of each") {
    val kv = new InMemoryStore
    val archive = new BatchArchive(kv, kept = 10, used = true)
    def of(run: String) =
      shown(kv).query(run).map(shown(kv).answer(_).notes.map(_.text).filter(_.startsWith("A")))
    val (begun, ran) = (UUID.randomUUID, UUID.randomUUID.toString)
    archive.onOtherEvent(QueryEvents.started(begun, begun, "begun"))
    for (run <- Seq(begun.toString, ran); text <- Seq("A b", "A a", "A b"))
      archive.onOtherEvent(found(run, text))
    archive.onOtherEvent(batch(ran, 0))
    for (other <- 1 to 150; text <- 1 to (if (other == 150) 150 else 1))
      archive.onOtherEvent(found(s"$other", s"A $text"))
    assert(of(begun.toString) === Some(Seq("A a", "A b")))
    assert(of(ran) === Some(Seq("A a", "A b")))
    assert(kv.count(classOf[StoredNotes]) === 102)
    assert(kv.read(classOf[StoredNotes], "150").events.length === 100)

    // What replaces a run takes its notes, too.
    archive.onOtherEvent(end(begun))
    archive.onOtherEvent(QueryEvents.started(begun, UUID.randomUUID, "begun"))
    assert(kv.count(classOf[StoredNotes]) === 101)
    archive.onOtherEvent(end(UUID.fromString(ran)))
    for (number <- 1 to BatchArchive.RunsKept + 1) {
      val run = UUID.randomUUID
      archive.onOtherEvent(batch(run.toString, 1L + number))
      archive.onOtherEvent(end(run))
    }
    assert(kv.count(classOf[StoredNotes]) === 100 && of(ran) === None)
  }

  test("of an event log without the plugin a query without figures shows as soon as anything in it is ours") {
    for (ours <- Seq(found("noted", "A"), batch("other", 0))) {
      val kv = new InMemoryStore
      val archive = new BatchArchive(kv, kept = 10)
      val run = UUID.randomUUID
      archive.onOtherEvent(QueryEvents.started(run, run, "without figures"))
      assert(shown(kv).queries === Nil)
      archive.onOtherEvent(ours)
      assert(shown(kv).query("without figures").flatMap(_.runId) === Some(run.toString))
    }
  }
}
