package io.sparklatency

import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.DropwizardName
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.JmxName
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.figures.Metric

/** When batches carry latency markers, and the histograms that these end in: their names, how many they are, what they forget. */
class MarkerHistogramsSuite extends MarkedRuns {
  import MarkedRuns._

  test(
    "D1: with an interval of 10, batches that begin to read at 1, 10, 11, 21 and 100 are marked at 1, 10, 21 and 100"
  ) {
    def marked(interval: Option[Long], begins: Seq[Long]) = {
      val run = new Run(MarkerSettings(interval), Map.empty)
      begins.map { ms =>
        run.batch(ms + 1)(At("s", 0, ms, ms + 1))
        run.query.markers.flatMap(_.markedMs)
      }.distinct.flatten -> run.query.markers.map(_.count)
    }
    assert(marked(Some(10), Seq(1, 10, 11, 21, 100)) === ((Seq(1, 10, 21, 100), Some(4))))
    assert(marked(Some(10), (0L to 100L)) === ((0L to 100L by 10L, Some(11))))
    assert(marked(None, Seq(1, 10, 11, 21, 100)) === ((Nil, None)))
  }

  test("D1: no burst after a batch that blocked, and a clock that was set back marks at once") {
    val run = new Run(MarkerSettings(Some(10)), Map.empty)
    for (ms <- Seq(0L, 100L, 101L, 109L, 110L, 50L)) run.batch(ms)(At("s", 0, ms, ms))
    assert(run.found.count === 4 && run.found.markedMs === Some(50))
  }

  /** Markers (S1,0) (S1,0) (S1,1) (S2,2) (S2,3), which come to partition 64 of one operator. */
  private def flinks(granularity: Granularity): Map[String, (Long, Long, Long)] = {
    val run = new Run(MarkerSettings(Some(10), granularity), Map("o" -> Set("S1", "S2")))
    run.batch(60)(
      At("S1", 0, 0, 10, stage = 1),
      At("S1", 1, 5, 10, stage = 1),
      At("S2", 2, 10, 20, stage = 2),
      At("S2", 3, 10, 20, stage = 2),
      At("o", 64, 30, 50, stage = 3)
    )
    run.batch(160)(At("S1", 0, 100, 110, stage = 4), At("o", 64, 130, 150, stage = 5))
    named(run.histograms, "o")
  }

  test("D2: five markers are one histogram, two or four, by granularity, in the operator's partition 64") {
    assert(flinks(Granularity.Single) === Map("> o.64" -> ((5, 40, 50))))
    assert(flinks(Granularity.Operator) === Map("S1 > o.64" -> ((3, 45, 50)), "S2 > o.64" -> ((2, 40, 40))))
    assert(flinks(Granularity.Subtask) === Map(
      "S1.0 > o.64" -> ((2, 50, 50)),
      "S1.1 > o.64" -> ((1, 45, 45)),
      "S2.2 > o.64" -> ((1, 40, 40)),
      "S2.3 > o.64" -> ((1, 40, 40))
    ))
  }

  test("names and tags are Flink's") {
    val key = MarkerKey(Granularity.Subtask, "S1", 0, "o", Some(64))
    assert(key.tags === Seq(
      "source_id" -> "S1",
      "source_subtask_index" -> "0",
      "operator_id" -> "o",
      "operator_subtask_index" -> "64"
    ))
    assert(MarkerKey(Granularity.Operator, "S1", 0, "o", Some(64)).tags.map(_._1) ===
      Seq("source_id", "operator_id", "operator_subtask_index"))
    assert(MarkerKey(Granularity.Single, "S1", 0, "o", Some(64)).tags.map(_._1) ===
      Seq("operator_id", "operator_subtask_index"))
    assert(DropwizardName.ofMarker("q.1", key, Metric.ofMarkers.last) ===
      "query.q%2E1.latency.source_id.S1.source_subtask_index.0.operator_id.o.operator_subtask_index.64.latency-max")
    assert(JmxName.ofMarker(
      "q",
      key
    ).toString === "sparklatency:type=latency-marker-metrics,query=q,source_id=S1," +
      "source_subtask_index=0,operator_id=o,operator_subtask_index=64")
    assert(Metric.ofMarkers.map(_.name) ===
      Seq("count", "min", "avg", "p50", "p90", "p95", "p99", "p999", "max").map(figure => s"latency-$figure"))
  }

  test("Prometheus has a histogram in seconds, with Flink's names as labels") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30))
    val lines = PrometheusText("app", Seq(Answered.answer(run.query)), None).text.linesIterator.toSeq
    val labels = """app="app",operator_id="o",operator_subtask_index="0",query="orders",source_id="s""""
    assert(lines.contains(s"sparklatency_marker_latency_seconds_count{$labels} 1"))
    assert(lines.contains(s"sparklatency_marker_latency_seconds_sum{$labels} 0.03"))
  }

  test(
    "histograms forget by time: after a window of silence nothing is shown but the last figures, and that they are old"
  ) {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30))
    run.clock.advance(59999)
    assert(run.histograms("s > o.0") === ((1, 30, 30)))
    run.clock.advance(1)
    assert(run.histograms === Map.empty)
    val quiet = run.found.of.find(_.key.operator == "o").get
    assert(quiet.isQuiet && quiet.latest.max === Some(
      30
    ) && quiet.lastMs === 100 && quiet.figures.total.count === 1)
    run.batch(5100)(At("s", 0, 5000, 5010), At("o", 0, 5000, 5007))
    assert(run.histograms("s > o.0") === ((1, 7, 7)))
    assert(run.found.of.find(_.key.operator == "o").get.figures.total.count === 2)
  }

  test("there are as many histograms as nodes at most: the others are one, and counted") {
    val run = new Run(MarkerSettings(Some(1000), Granularity.Subtask), chain("s", "o"), maxNodes = 3)
    run.batch(100)((0 to 3).flatMap(i => Seq(At("s", i, 0, 10), At("o", i, 0, 30))): _*)
    assert(run.found.of.size === 4 && run.found.folded === 9)
    val other = run.found.of.find(_.key == MarkerKey.Other).get
    assert(other.figures.total.count === 9 && run.found.of.map(_.figures.total.count).sum === 12)
  }
}
