package io.sparklatency.spark

import java.time.Instant
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.time.WallClock
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.Trigger

/** A query that nobody has marked: that it commits is known all the same. */
class UnmarkedQueriesSuite extends StreamingTest with Patient {
  private val noNode = "No node of this query has figures."

  private def progress(query: String): JsonNode = queryOf(query).get("progress")
  private def notes(query: String): Seq[String] =
    queryOf(query).get("notes").elements.asScala.map(_.get("code").asText).toSeq

  test(
    "when a query without marks last committed is known, though Spark has told of triggers without data since"
  ) {
    listen()
    withSettings("spark.sql.streaming.noDataProgressEventInterval" -> "50ms") {
      val input = stream
      input.addData(ago(1))
      val query = start(input.toDF(), "unmarked_idle")
      try {
        processAll(query)
        eventually(assert(!query.lastProgress.durationMs.containsKey("addBatch")))
        eventually(assert(progress("unmarked_idle").get("sinceCommit").asText === "0"))
        clock.advance(5000)
        assert(progress("unmarked_idle").get("sinceCommit").asLong === 5000)
        assert(progress("unmarked_idle").get("text").asText.endsWith(s"The last commit was 5 s ago. $noNode"))
        assert(notes("unmarked_idle") === Seq("no-node"))
        assert(queryOf("unmarked_idle").get("batches").asLong === 1)
        assert(queryOf("unmarked_idle").get("headline").get("text").asText.startsWith(noNode.dropRight(1)))
      } finally query.stop()
      assert(notes("unmarked_idle") === Seq("no-node"))
      assert(progress("unmarked_idle").get("text").asText === s"Finished. 1 batch was committed. $noNode")
    }
  }

  test("what a query without marks drops late is known, for Spark counts it") {
    listen()
    val input = stream
    val query =
      start(input.toDF().withWatermark("value", "10 seconds").dropDuplicates("value"), "unmarked_drops")
    try {
      input.addData(ago(0))
      processAll(query)
      input.addData(ago(60000, 90000))
      processAll(query)
      eventually(assert(progress("unmarked_drops").get("droppedLate").asText === "2"))
    } finally query.stop()
  }

  test(
    "a batch of a query without marks hangs if it takes much longer than others, and its tasks stand still"
  ) {
    listen()
    val (counted, mayEnd) = (new CountDownLatch(1), new CountDownLatch(1))
    val input = stream
    val name = "unmarked_hangs"
    byTheWall {
      val query = input.toDF().writeStream.queryName(name).foreachBatch { (batch: DataFrame, number: Long) =>
        batch.count()
        if (number == 2) {
          counted.countDown()
          mayEnd.await()
        }
      }.start()
      def after(ms: Long): JsonNode = {
        WallClock.install(new Shifted(ms))
        progress(name)
      }
      try {
        for (_ <- 1 to 2) {
          input.addData(ago(1))
          processAll(query)
        }
        input.addData(ago(1))
        assert(counted.await(Patience.Seconds, TimeUnit.SECONDS), "the batch runs")
        assert(!after(0).get("stalled").asBoolean)
        val hangs = after(3600000)
        assert(hangs.get("stalled").asBoolean)
        assert(hangs.get("sinceProgress").asLong < hangs.get("running").asLong, "its task has ended since")
        assert(queryOf(name).get("headline").get("code").asText === "stalled")
        assert(notes(name) === Seq("stalled", "no-node"))
        val batches = query.recentProgress.filter(_.durationMs.containsKey("addBatch")).toSeq
        val took = batches.map(_.durationMs.get("triggerExecution").toLong)
        val commits = batches.zip(took).map { case (of, ms) => Instant.parse(of.timestamp).toEpochMilli + ms }
        assert(hangs.get("batchDuration").asLong === math.round(took.sum / 2.0))
        assert(hangs.get("usually").asLong === commits(1) - commits.head)
        assert(gauges(s"query.$name.batch-in-progress").asInstanceOf[Double] >= hangs.get("running").asDouble)
      } finally {
        mayEnd.countDown()
        query.stop()
      }
    }
  }

  test("a query without marks that had nothing to read has committed nothing") {
    listen()
    val query = stream.toDF().writeStream.format("noop").queryName("unmarked_empty")
      .trigger(Trigger.AvailableNow()).start()
    query.awaitTermination()
    assert(notes("unmarked_empty") === Seq("no-record"))
    assert(progress("unmarked_empty").get("text").asText === "Finished.")
  }
}
