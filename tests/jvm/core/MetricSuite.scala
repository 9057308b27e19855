package io.sparklatency

import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.Metric
import org.scalatest.funsuite.AnyFunSuite

/** What the metrics of one measure read. */
class MetricSuite extends AnyFunSuite {
  private val figures = MeasureSnapshot.of(Aged.records(1, 2, 4))

  private def metric(field: String) = Metric.of(Measure.E2ELatency).find(_.field == field).get

  test("counts, extremes and percentiles are whole numbers, means are not") {
    assert(Seq("records", "min", "p50", "max", "avg").map(metric(_).read(figures)) === Seq(
      Some(Whole(3)),
      Some(Whole(1)),
      Some(Whole(2)),
      Some(Whole(4)),
      Some(Mean(7 / 3.0))
    ))
    assert(metric("maxLead").read(MeasureSnapshot.of(Aged.records(-3))) === Some(Whole(3)))
  }

  test("a large whole number loses no digit") {
    val lead = (1L << 53) + 1
    assert(metric("maxLead").read(MeasureSnapshot.of(Aged.records(-lead))) === Some(Whole(lead)))
  }

  test("JMX has a counter as a Long and a gauge as a Double, which is NaN where it is unknown") {
    // As texts, for 3 and 3.0 are equal.
    assert(Seq("records", "min", "avg").map(metric(_).value(figures).toString) ===
      Seq("3", "1.0", (7 / 3.0).toString))
    assert(metric("records").value(MeasureSnapshot.empty).toString === "0")
    assert(metric("min").value(MeasureSnapshot.empty).asInstanceOf[Double].isNaN)
  }
}
