package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._

/** Numbers in JSON as their text has them: milliseconds, times and counts are whole, means and shares are not. */
class JsonNumbersSuite extends StreamingTest {

  test("what is counted or read from a clock is whole, and a mean is not") {
    val input = stream
    val query = start(marked(input).withE2ELatency("sink"), "numbers")
    try {
      input.addData(ago(100, 300))
      processAll(query)
      clock.advance(500)
      input.addData(ago(200, 200))
      processAll(query)
      val shown = latencyOf("numbers").at("/queries/0")
      val batch = shown.get("lastBatch")
      def texts(of: JsonNode, fields: String*) = fields.map(of.get(_).toString)
      val figures = Seq("records", "min", "avg", "p50", "max", "withoutTimestamp")
      assert(texts(shown.at("/nodes/0"), figures: _*) === Seq("4", "100", "450.0", "301", "700", "0"))
      assert(texts(shown.at("/nodes/1/commit"), "min", "avg", "max") === Seq("100", "450.0", "700"))
      assert(texts(shown.at("/split/queuing"), "min", "avg", "max") === Seq("700", "700.0", "700"))
      assert(texts(batch, "committed", "inputRows", "watermark", "watermarkLag") ===
        Seq(s"${Start + 500}", "2", s"${Start - 10100}", "10600"))
      assert(texts(batch.at("/watermarks/0"), "delay", "lag") === Seq("10000", "10600"))
      val durations = batch.get("durations").elements.asScala.toSeq
      assert(durations.nonEmpty && durations.forall(_.isIntegralNumber))
    } finally query.stop()
  }
}
