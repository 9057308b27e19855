package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.streaming.Trigger

/** A query that nobody has marked: that it commits is known all the same. */
class UnmarkedQueriesSuite extends StreamingTest with Patient {
  private val noNode = "No node of this query has figures."

  private def shown(query: String): JsonNode = latencyOf(query).get("queries").get(0)
  private def progress(query: String): JsonNode = shown(query).get("progress")
  private def notes(query: String): Seq[String] =
    shown(query).get("notes").elements.asScala.map(_.get("code").asText).toSeq

  test(
    "when a query without marks last committed is known, though Spark has told of triggers without data since"
  ) {
    latencyOf(null) // without a mark nobody else makes the application, which is to know of the query
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
        assert(shown("unmarked_idle").get("batches").asLong === 1)
        assert(shown("unmarked_idle").get("headline").get("text").asText.startsWith(noNode.dropRight(1)))
      } finally query.stop()
      assert(notes("unmarked_idle") === Seq("no-node"))
      assert(progress("unmarked_idle").get("text").asText === s"Finished. 1 batch was committed. $noNode")
    }
  }

  test("a query without marks that had nothing to read has committed nothing") {
    latencyOf(null)
    val query = stream.toDF().writeStream.format("noop").queryName("unmarked_empty")
      .trigger(Trigger.AvailableNow()).start()
    query.awaitTermination()
    assert(notes("unmarked_empty") === Seq("no-record"))
    assert(progress("unmarked_empty").get("text").asText === "Finished.")
  }
}
