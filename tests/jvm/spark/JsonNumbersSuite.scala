package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.figures
import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.Waits
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.spark.syntax._
import io.sparklatency.time.ManualClock

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
      val shown = queryOf("numbers")
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

  test(
    "the slowest step of a batch is that of its cause, where it tells one, and not where records came old"
  ) {
    def node(id: String, ms: Long, upstream: String*) = {
      val recorder = new LatencyRecorder(new ManualClock(Start))
      recorder.record((Start - ms) * 1000)
      NodeLatencies(id, upstream, Map(Measure.E2ELatency -> recorder.summary()))
    }
    val nodes = Seq(node("source", 4000), node("scored", 4100, "source"))
    val batch =
      figures.Batch("orders", None, Some("run"), 7, 10000, 56000, 100, Map.empty, None, Nil, 0, nodes)
    val commit = batch.copy(
      admission = Some(Admission(4000, 5000, 9000, 10000, 46000, None, None)),
      parts = Some(AgeParts("scored", Waits(10, 10, 10, 10, 10), work = 10, state = 0, commit = 940))
    )
    val shown =
      LatencyJson.history(Seq(batch, commit)).get("batches").elements.asScala.map(_.get("slowestStep"))
    assert(shown.map(_.asText).toSeq === Seq("source", "scored"))
  }
}
