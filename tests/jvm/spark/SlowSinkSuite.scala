package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col

/** What is said of a query whose records have no timestamp, and whose sink takes most of its time. */
class SlowSinkSuite extends MarkersTest {
  test(
    "a sink that takes longer than all operators is what the headline names, and what the sentence of the work"
  ) {
    withSettings(on: _*) {
      val steps = line.withE2ELatency("read").repartition(2).withE2ELatency("ready")
      val query = steps.writeStream.queryName("slow_sink").foreachBatch { (batch: DataFrame, _: Long) =>
        batch.collect()
        clock.advance(3000)
      }.start()
      try {
        processAll(query)
        val shown = queryOf("slow_sink")
        val headline = shown.get("headline")
        assert(headline.get(
          "text"
        ).asText === "What comes after ready takes 3 s of 3 s (100 %) of the work on a batch: " +
          "the sink, and whatever stands before it without a node. Make that faster.")
        assert((headline.get("code").asText, headline.get("node").asText) === (("commit", "ready")))
        assert((headline.get("own").asDouble, headline.get("whole").asDouble) === ((3000.0, 3000.0)))
        assert(shown.get("slowestStep").asText === "ready")
        assert(shown.get(
          "operators"
        ).get("text").asText === "Batch 0: what comes after ready took longest: " +
          "3 s of 3 s (100 %) from the first read to the commit.")
        assert(shown.get("operators").get("latency").asDouble === 0.0)
      } finally query.stop()
    }
  }

  test("a batch that several sinks read begins when the first of them does, not the last") {
    val input = stream
    input.addData(ago(7))
    val scored =
      input.toDF().withE2ELatency("read", "value").withColumn("score", slow(1000)(col("value").cast("long")))
    val query = scored.withE2ELatency("scored", "value").writeStream.queryName("three_sinks")
      .foreachBatch((batch: DataFrame, _: Long) => (1 to 3).foreach(_ => batch.collect())).start()
    try {
      processAll(query)
      val shown = queryOf("three_sinks")
      assert(shown.get("operators").get("firstRead").asDouble === Start)
      assert(shown.get("operators").get("latency").asDouble === 3000)
    } finally query.stop()
  }
}
