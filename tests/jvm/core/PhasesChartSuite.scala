package io.sparklatency

import java.time.ZoneOffset.UTC

import scala.xml.Elem
import scala.xml.XML

import io.sparklatency.drawing.PhasesChart
import org.scalatest.funsuite.AnyFunSuite

/** How long each phase of the batches took, drawn as the XML that it is. */
class PhasesChartSuite extends AnyFunSuite with Drawn {
  private def phases(bars: PhasesChart.Bar*): Elem = XML.loadString(PhasesChart.of(bars, UTC).svg)

  test("phases of a batch stand on one another, and what no phase holds on all") {
    val known = Map("addBatch" -> 600L, "walCommit" -> 100L, "triggerExecution" -> 1000L)
    val drawn = phases(PhasesChart.bar(7, 0, known, 500).get)
    assert((drawn \ "path").map(shape =>
      (shape \@ "class").stripPrefix("latency-phase ") -> shape \@ "d"
    ) === Seq(
      "latency-phase-walCommit" -> "M60,139.6V154H83V139.6z",
      "latency-phase-addBatch" -> "M60,53.2V139.6H83V53.2z",
      "latency-phase-other" -> "M60,10V53.2H83V10z"
    ))
    assert((drawn \ "g" \ "path").map(_ \@ "d") === Seq("M60,10V154H83V10z"))
    assert(drawn.child.last \@ "class" === "latency-hints", "over all else")
    assert((drawn \\ "title").map(_.text) === Seq(
      "batch 7 · 1970-01-01 00:00:00 · walCommit 100 ms · addBatch 600 ms · other 300 ms · 500 rows · 500 rows/s"
    ))
    assert(texts(drawn, "latency-tick") ===
      Seq("0 ms", "200 ms", "400 ms", "600 ms", "800 ms", "1 s", "batch 7", "500 rows/s", "0 rows/s"))
  }

  test("the first batch and the last are named, together where two names would lie on one another") {
    def named(batches: Range) = {
      val bars = batches.flatMap(i => PhasesChart.bar(i.toLong, 0, Map("triggerExecution" -> 100L), 0))
      (phases(bars: _*) \ "text").filter(_ \@ "y" === "174")
        .map(label => (label.text, label \@ "x", label \@ "text-anchor"))
    }
    assert(named(7 to 7) === Seq(("batch 7", "74.4", "start")))
    assert(named(0 to 1) === Seq(("batches 0 to 1", "74.4", "start")))
    assert(named(0 to 3) === Seq(("batches 0 to 3", "74.4", "start")))
    assert(named(0 to 4) === Seq(("batch 0", "74.4", "start"), ("batch 4", "189.6", "end")))
    assert(named(1000 to 1004) === Seq(("batches 1,000 to 1,004", "74.4", "start")))
    assert(named(1000 to 1006) === Seq(("batch 1,000", "74.4", "start"), ("batch 1,006", "247.2", "end")))
  }

  test("a batch of which nothing is told has no bar") {
    assert(PhasesChart.bar(7, 0, Map.empty, 500) === None)
  }
}
