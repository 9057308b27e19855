package io.sparklatency

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.FailedTasks
import io.sparklatency.figures.Held
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.recording.LatencySummary
import org.scalatest.funsuite.AnyFunSuite

class PrometheusTextSuite extends AnyFunSuite with ExplainedBatches {
  private def query(name: String, measures: (Measure, MeasureSnapshot)*) =
    QuerySnapshot(
      name,
      None,
      None,
      1,
      Seq(NodeSnapshot("a\"b\n", Nil, measures.toMap, Map.empty)),
      0,
      None
    )

  private def text(queries: QuerySnapshot*) = PrometheusText("app", queries.map(Answered.answer(_)), None)

  private val labels = """app="app",node="a\"b\n",query="q""""

  test("latencies are a histogram in seconds that counts everything since the query began") {
    val lines = text(query(
      "q",
      Measure.E2ELatency -> MeasureSnapshot(
        Aged.records(5, 6, 7000),
        Aged.records(6),
        Aged.records(5, 6, 7000)
      )
    )).text.linesIterator.toSeq
    def bucket(le: String) = lines.find(_.contains(s"""_bucket{$labels,le="$le"}""")).map(_.split(' ').last)
    assert(Seq("0.005", "0.01", "5.0", "10.0", "+Inf").map(bucket) === Seq(
      "1",
      "2",
      "2",
      "3",
      "3"
    ).map(Some(_)))
    assert(lines.contains(s"sparklatency_record_e2e_latency_seconds_count{$labels} 3"))
    assert(lines.contains(s"sparklatency_record_e2e_latency_seconds_sum{$labels} 7.011"))
    assert(lines.contains("# TYPE sparklatency_record_e2e_latency_seconds histogram"))
  }

  test("the sum of a histogram takes records ahead of the clock as 0, for it must not go down") {
    def sum(latencies: Long*): String =
      text(query("q", Measure.E2ELatency -> MeasureSnapshot.of(Aged.records(latencies: _*))))
        .text.linesIterator.find(_.contains("_latency_seconds_sum{")).get.split(' ').last
    assert(Seq(sum(-5), sum(-5, 100), sum(-5, 100, 7000)) === Seq("0.0", "0.1", "7.1"))
    // One is further ahead than the others: up to 2 % more, and never less.
    assert(Seq(sum(-5, -9, 100, 7000), sum(-5, -9, 100, 7000, -3600000)) === Seq("7.104", "7.138"))
  }

  test("nor does it go down where ages are of another time than they were taken at") {
    val moved = LatencySummary.later(Seq(Aged.records(Seq.fill(1000)(1003L): _*) -> 21))
    assert(moved.sumFromZero === 1024000)
    assert((moved + Aged.records(-10000)).sumFromZero === 1024000)
    // What was not ahead of the clock when it was read may be at a time before.
    val before = LatencySummary.later(Seq(Aged.records(400, 1000, 1001) -> -600))
    assert((before.sum, before.aheadOfClock, before.maxLead) === ((BigInt(601), 1, Some(200))))
    assert(before.sumFromZero === 801)
  }

  test("ages of days are told apart, up to a week") {
    val lines = text(query("q", Measure.E2ELatency -> MeasureSnapshot.of(Aged.records(5000000, 200000000))))
      .text.linesIterator.filter(_.contains("_bucket{")).map(_.split("le=").last).toSeq
    assert(lines.takeRight(5) ===
      Seq("\"3600.0\"} 0", "\"21600.0\"} 1", "\"86400.0\"} 1", "\"604800.0\"} 2", "\"+Inf\"} 2"))
  }

  test("extremes are those of the window, counts those since the query began") {
    val lines = text(query(
      "q",
      Measure.E2ELatency -> MeasureSnapshot(Aged.records(5, 7000), Aged.records(6), Aged.records(5, 7000))
    )).text.linesIterator.toSeq
    assert(lines.contains(s"sparklatency_record_e2e_latency_max_seconds{$labels} 0.006"))
    assert(lines.contains(s"sparklatency_records_total{$labels} 2.0"))
  }

  test(
    "the maximum is not below what a histogram took in at the end of a batch that is longer than the window"
  ) {
    val figures = MeasureSnapshot(Aged.records(5, 7000), Aged.records(6), Aged.records(5, 7000))
    def max(settledMax: Option[Long]) =
      text(query("q", Measure.E2ELatency -> figures.copy(settledMax = settledMax)))
        .text.linesIterator.filter(_.matches(
          "sparklatency_record_e2e_latency_m(ax|in)_seconds.*"
        )).map(_.split(' ').last).toSeq
    assert(max(Some(7000)) === Seq("7.0", "0.006"))
    assert(max(Some(5)) === Seq("0.006", "0.006"))
  }

  test("a histogram begins at 0 while the first batch runs: to a scraper the first value is no growth") {
    val running = MeasureSnapshot(Aged.records(5), Aged.records(5), LatencySummary.empty)
    val lines = text(query("q", Measure.E2ELatency -> running)).text.linesIterator.toSeq
    assert(lines.contains(s"sparklatency_record_e2e_latency_seconds_count{$labels} 0"))
  }

  test(
    "what counts all batches of a run that has ended goes after two minutes, for the next run begins anew"
  ) {
    val last = Batch("q", None, Some("run"), 7, 90000, 100000, 1, Map.empty, None, Nil, 0, Nil)
    val ended = query("q", Measure.E2ELatency -> MeasureSnapshot.of(Aged.records(5)))
      .copy(runId = Some("run"), lastBatch = Some(last))
    def isThere(query: QuerySnapshot, nowMs: Option[Long]) =
      PrometheusText(
        "app",
        Seq(Answered.answer(query)),
        None,
        nowMs = nowMs
      ).text.contains("sparklatency_records_total")
    assert(isThere(ended, Some(219999)))
    assert(!isThere(ended, Some(220000)))
    assert(isThere(ended, None), "in a History Server")
    assert(isThere(ended.doing(None, 300000), Some(300000)))
    assert(isThere(ended.copy(runId = None), Some(300000)), "of batch queries")
    assert(!isThere(ended.copy(lastBatch = None), Some(0)))
    // Of a run without batches nobody knows when it ended. But what came last is no longer of now.
    val endless = ended.copy(endless = true)
    assert(isThere(endless, Some(300000)))
    assert(Seq(ended, endless).map(text(_).text.contains("_latency_max_seconds")) === Seq(true, false))
  }

  test("results of windows that are open are dated ahead, and do not count as clocks that differ") {
    def counted(held: Held, by: Long = 60000, before: Option[Long] = None) = {
      val all = Aged.records((by +: before.toSeq).map(-_): _*)
      val ahead = MeasureSnapshot(all, Aged.records(-by), all)
      val nodes = Seq("window" -> Nil, "sink" -> Seq("window"), "source" -> Nil).map { case (id, upstream) =>
        NodeSnapshot(id, upstream, Map(Measure.E2ELatency -> ahead), Map.empty)
      }
      val told = Seq(Aged.node("window")(-60000).copy(held = Some(held)))
      val last = Batch("q", None, Some("run"), 7, 90000, 100000, 1, Map.empty, None, Nil, 0, told)
      text(query("q").copy(nodes = nodes, lastBatch = Some(last))).text.linesIterator
        .filter(_.startsWith("sparklatency_records_ahead")).map(_.split(
          "node=\""
        ).last.takeWhile(_ != '"')).toSet
    }
    assert(counted(Held(windowMs = Some(60000), eachBatch = true)) === Set("source"))
    val all = Set("window", "sink", "source")
    assert(counted(Held(windowMs = Some(60000))) === all)
    assert(counted(Held(eachBatch = true)) === all)
    assert(counted(Held(windowMs = Some(60000), eachBatch = true), by = 60001) === all, "further than that")
    // Of one that was dated wrong long ago.
    val open = Held(windowMs = Some(60000), eachBatch = true)
    assert(counted(open, before = Some(7200000)) === Set("source"))
  }

  test("a scraper sees what nothing can take back: to it, a count that goes down has started again") {
    val figures = MeasureSnapshot(Aged.records(5, 6, 7000), Aged.records(6), settled = Aged.records(5, 6))
    val lines = text(query("q", Measure.E2ELatency -> figures)).text.linesIterator.toSeq
    assert(lines.contains(s"sparklatency_records_total{$labels} 2.0"))
    assert(lines.contains(s"sparklatency_record_e2e_latency_seconds_count{$labels} 2"))
  }

  test("what is unknown has no line") {
    val shown = text(query("q", Measure.E2ELatency -> MeasureSnapshot.empty)).text
    assert(shown.contains("sparklatency_records_total") && !shown.contains("seconds"))
    assert(text().text === "")
  }

  test("of a run that has ended there is no lag and no interval: nobody is to be woken for it") {
    val watermark = SourceWatermark("kafka[orders]", "ts", 10000, Some(40000), holdsBack = true)
    val last =
      Batch("q", None, Some("run"), 7, 90000, 100000, 1, Map.empty, Some(40000), Seq(watermark), 0, Nil)
    val measured = query("q", Measure.E2ELatency -> MeasureSnapshot.of(Aged.records(5)))
    val ended = measured.copy(runId = Some("run"), lastBatch = Some(last), usuallyMs = Some(2000))
    def series(query: QuerySnapshot) = text(query).text.linesIterator
      .filter(_.matches("sparklatency_(commit|watermark|source_watermark).*"))
      .map(line => line.takeWhile(_ != '{') -> line.split(' ').last).toMap
    assert(series(ended.doing(None, 160000)) === Map(
      "sparklatency_commit_age_seconds" -> "60.0",
      "sparklatency_commit_interval_seconds" -> "2.0",
      "sparklatency_watermark_lag_seconds" -> "120.0",
      "sparklatency_source_watermark_lag_seconds" -> "120.0",
      "sparklatency_source_watermark_holds_back" -> "1.0"
    ))
    val stateless = ended.copy(lastBatch = Some(last.copy(usesWatermark = false))).doing(None, 160000)
    assert(series(stateless).get("sparklatency_source_watermark_holds_back") === Some("0.0"))
    assert(series(ended) === Map.empty)
    assert(text(ended).text.contains("sparklatency_records_total"))
  }

  test("what is of the last batch goes with its run, and stays of a batch query, which has none") {
    val explained = batch(parts(before = 500))
    val node = NodeSnapshot("scored", Nil, Map.empty, Map.empty, operator = Seq(40, 20))
    val ended = Answered.query().copy(nodes = Seq(node), explained = Some(explained))
    def series(query: QuerySnapshot) = text(query).text.linesIterator
      .filter(_.matches("sparklatency_(age_part|operator).*")).map(_.takeWhile(_ != '{')).toSeq.distinct
    val ofLastBatch = Seq(
      "sparklatency_age_part_seconds",
      "sparklatency_operator_latency_avg_seconds",
      "sparklatency_operator_latency_seconds"
    )
    assert(series(ended.doing(None, 160000)) === ofLastBatch)
    assert(series(ended) === Nil)
    assert(series(ended.copy(runId = None)) === ofLastBatch)
  }

  test(
    "a query is told to have failed until it runs again, and not where it ended otherwise or nobody knows"
  ) {
    def failed(ends: (String, Option[RunStatus])*) = {
      val queries = ends.map { case (name, status) => new QueryAnswer(query(name), status) }
      PrometheusText("app", queries, None).text.linesIterator.filter(_.startsWith("sparklatency_query")).toSeq
    }
    val (running, ended, error) =
      (Some(RunStatus.Running), Some(RunStatus.Finished), Some(RunStatus.Failed))
    assert(failed("a" -> running, "b" -> error, "c" -> ended, "d" -> None) === Seq(
      """sparklatency_query_failed{app="app",query="a"} 0.0""",
      """sparklatency_query_failed{app="app",query="b"} 1.0"""
    ))
    // As queries of two sessions may have one name.
    assert(failed(
      "a" -> running,
      "a" -> error
    ) === Seq("""sparklatency_query_failed{app="app",query="a"} 1.0"""))
  }

  test("of two queries of one name that which goes on has the series") {
    val ended = query("q").copy(failedTasks = Some(FailedTasks(3)))
    val runs = query("q").copy(failedTasks = Some(FailedTasks(7))).doing(None, 100000)
    for (both <- Seq(Seq(ended, runs), Seq(runs, ended))) {
      val lines = PrometheusText("app", both.map(new QueryAnswer(_, None)), None).text.linesIterator
      assert(lines.filter(
        _.startsWith("sparklatency_tasks_failed_total")
      ).map(_.split(' ').last).toSeq === Seq("7.0"))
    }
  }

  test("records that a trigger left are a number, and no duration") {
    val activity = Activity(12, "", None, hasData = false, left = Seq(Activity.Left("kafka[orders]", 1500)))
    val lines = text(query("q").doing(Some(activity), 100000)).text.linesIterator.toSeq
    assert(lines.contains("sparklatency_records_lag{app=\"app\",query=\"q\"} 1500.0"))
  }

  test("rows that were dropped late are a counter of the query") {
    val lines = text(query("q").copy(droppedLate = 7).doing(None, 100000)).text.linesIterator.toSeq
    assert(lines.contains("# TYPE sparklatency_rows_dropped_late_total counter"))
    assert(lines.contains("sparklatency_rows_dropped_late_total{app=\"app\",query=\"q\"} 7.0"))
  }

  test("a counter of a query begins at 0: to a scraper the first value is no growth") {
    def dropped(query: QuerySnapshot) = text(query).text.linesIterator
      .filter(_.startsWith("sparklatency_rows_dropped_late_total")).map(_.split(' ').last).toSeq
    val begun = query("q").copy(batches = 0)
    assert(dropped(begun.doing(None, 100000)) === Seq("0.0"))
    assert(dropped(begun) === Nil)
  }

  test("attempts of tasks that failed are a counter of the query") {
    val lines =
      text(query("q").copy(failedTasks = Some(FailedTasks(3))).doing(None, 100000)).text.linesIterator.toSeq
    assert(lines.contains("# TYPE sparklatency_tasks_failed_total counter"))
    assert(lines.contains("sparklatency_tasks_failed_total{app=\"app\",query=\"q\"} 3.0"))
  }

  test("one name is one series, that of the newest run") {
    def of(records: LatencySummary) = query("q", Measure.E2ELatency -> MeasureSnapshot.of(records))
    val lines = text(
      of(Aged.records(1, 2)),
      of(Aged.records(1))
    ).text.linesIterator.filter(_.startsWith("sparklatency_records_total")).toSeq
    assert(lines === Seq(s"sparklatency_records_total{$labels} 2.0"))
  }

  test("a scraper that takes OpenMetrics gets it") {
    val answer =
      PrometheusText("app", Nil, Some("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"))
    assert(answer.contentType.startsWith("application/openmetrics-text") && answer.text === "# EOF\n")
    assert(text().contentType.startsWith("text/plain"))
  }
}
