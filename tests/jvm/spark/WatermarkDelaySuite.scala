package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/** What is said of a watermark's delay, by Spark's own watermark and the records of a query that runs. */
class WatermarkDelaySuite extends StreamingTest {

  private def notes(query: String): Seq[JsonNode] =
    latencyOf(query).at("/queries/0/notes").elements.asScala.filter(
      _.get("code").asText == "watermark-delay"
    ).toSeq

  test("that records come less late than a watermark waits is told, and what a shorter delay would give") {
    val input = stream
    val query = startWindows(input, "delayed")
    try {
      input.addData(ago(0))
      processAll(query)
      assert(notes("delayed") === Nil, "nothing is known of records before the first one")
      input.addData(ago((1 to 10000).map(_ % 3001L): _*))
      processAll(query)
      assert(notes("delayed").map(_.get("text").asText) === Seq(
        "The watermark waits 10 s for late records, and 99.99 % of 10,000 came at most 3 s behind the newest event. With 4 s results " +
          "come 6 s earlier, and none of these would have been dropped."
      ))
    } finally query.stop()
  }
}
