package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger

/** Which records may have waited for a run to begin, so that nobody has written them late. By the clock on the wall. */
class OlderThanTheRunSuite extends StreamingTest {

  test("what a window gives out in a later batch than the first may have waited for the run, too") {
    byTheWall {
      val (events, now) = (stream, System.currentTimeMillis)
      events.addData(Seq(600000, 330000).map(ms => new Timestamp(now - ms)))
      val windows = newestOfEachSecond(marked(events)).withE2ELatency("sink", "last")
      def said = queryOf("old_windows").get("headline").get("text").asText
      val query = start(windows, "old_windows")
      try {
        processAll(query)
        assert(said.matches(
          "Records are older than the run: .*, by last\\. They came in with its first batches, so they may have waited for the run .*"
        ))
        events.addData(new Timestamp(System.currentTimeMillis - 300000))
        processAll(query)
        assert(said.startsWith("Records arrive old: "), "these were not there when the run began")
      } finally query.stop()
    }
  }

  test("what a run reads after it has done again what the one before had begun may have waited for it, too") {
    byTheWall {
      val (events, checkpoint) = (stream, TemporaryFolder("again").toString)
      def add(ms: Long): Unit = { events.addData(new Timestamp(System.currentTimeMillis - ms)); () }
      // With an interval no trigger has found nothing between its first two batches, however busy this machine is.
      def run(fails: Boolean): StreamingQuery = marked(events).writeStream.queryName("again")
        .option("checkpointLocation", checkpoint)
        .trigger(Trigger.ProcessingTime("1 second"))
        .foreachBatch { (batch: DataFrame, _: Long) =>
          drop(batch)
          assert(!fails)
          ()
        }.start()
      def said = queryOf("again").get("headline").get("text").asText
      add(600000)
      failure(run(fails = true))
      add(300000)
      val query = run(fails = false)
      try {
        processAll(query)
        assert(said.matches(
          "Records are older than the run: .*, by value\\. They came in with its first batches, so they may have waited for the run .*"
        ))
        add(300000)
        processAll(query)
        assert(said.startsWith("Records arrive old: "), "these were not there when the run began")
      } finally query.stop()
    }
  }

  test("what comes when a run has found nothing did not wait for it to begin") {
    byTheWall {
      val (events, checkpoint) = (stream, Some(TemporaryFolder("found").toString))
      def run(): StreamingQuery = start(marked(events), "found_nothing", checkpoint = checkpoint)
      def add(ms: Long): Unit = { events.addData(new Timestamp(System.currentTimeMillis - ms)); () }
      add(600000)
      val first = run()
      processAll(first)
      first.stop()
      val query = withSettings("spark.sql.streaming.noDataProgressEventInterval" -> "0")(run())
      try {
        (1 to 2).foreach(_ => processAll(query))
        add(300000)
        processAll(query)
        val said = queryOf("found_nothing").get("headline").get("text").asText
        assert(said.startsWith("Records arrive old: "), said)
      } finally query.stop()
    }
  }
}
