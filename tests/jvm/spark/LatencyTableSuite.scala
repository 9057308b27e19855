package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.latency.ListenerBus

class LatencyTableSuite extends StreamingTest {

  test("SELECT * FROM e2e_latency() gives a row for each node, with the gauges' figures") {
    val input = stream
    val query = start(marked(input).withE2ELatency("sink"), "in_sql")
    try {
      input.addData(ago(100, 300))
      query.processAllAvailable()
      ListenerBus.awaitEmpty(spark.sparkContext)
      val rows = spark.sql(
        """SELECT node, upstream, own, share, records, record_e2e_latency_max, record_commit_latency_avg,
          |records_dropped_late, query_id, run_id FROM e2e_latency() WHERE query = 'in_sql'""".stripMargin
      ).collect().map(_.toSeq)
      val (id, run) = (query.id.toString, query.runId.toString)
      assert(rows === Array(
        Seq[Any]("source", Nil, 200.0, 1.0, 2L, 300.0, null, null, id, run),
        Seq[Any]("sink", Seq("source"), 0.0, 0.0, 2L, 300.0, 200.0, null, id, run)
      ))
      assert(gauges("query.in_sql.node.sink.record-commit-latency-avg") === 200.0)
    } finally query.stop()
  }

  test("rows stand in the order of the queries, and of each in that of the plan") {
    val (first, second) = (stream, stream)
    val queries = Seq(
      start(marked(first).withE2ELatency("z").withE2ELatency("a"), "rows_z"),
      start(marked(second).withE2ELatency("m"), "rows_a")
    )
    try {
      for ((input, query) <- Seq(first, second).zip(queries)) {
        input.addData(ago(100))
        query.processAllAvailable()
        ListenerBus.awaitEmpty(spark.sparkContext)
      }
      val rows = spark.sql("SELECT query, node FROM e2e_latency() WHERE query LIKE 'rows_%'").collect()
      assert(rows.map(row => row.getString(0) -> row.getString(1)) === Array(
        "rows_z" -> "source",
        "rows_z" -> "z",
        "rows_z" -> "a",
        "rows_a" -> "source",
        "rows_a" -> "m"
      ))
    } finally queries.foreach(_.stop())
  }

  test("after a window without records the last batch of each node tells the slowest step") {
    val input = stream
    val query = startWindows(input, "silent")
    try {
      input.addData(ago(100, 300))
      query.processAllAvailable() // and a batch without data after it
      ListenerBus.awaitEmpty(spark.sparkContext)
      assert(!json("silent").get("silent").asBoolean)
      clock.advance(3600000)
      val columns = "node, own, share, silent, records, record_e2e_latency_p99"
      val rows = spark.sql(s"SELECT $columns FROM e2e_latency() WHERE query = 'silent'").collect()
      assert(rows.map(_.toSeq) === Array(
        Seq[Any]("source", 200.0, 1.0, true, 2L, null),
        Seq[Any]("sink", -100.0, 0.0, true, 1L, null)
      ))
      val shown = json("silent")
      assert(shown.get("silent").asBoolean)
      assert(shown.get("slowestStep").asText === "source")
      assert(shown.get("split").get("total").get("avg").asDouble === 100.0)
      val source = shown.get("nodes").get(0)
      assert(source.get("p99").isNull)
      assert(source.get("own").asDouble === 200.0)
      assert(source.get("batch").get("p99").asLong >= 300)
    } finally query.stop()
  }

  private def json(query: String) =
    latencyOf(query).get("queries").get(0)

  test("its columns are the metrics") {
    val columns = spark.sql("SELECT * FROM e2e_latency()").columns.toSet
    assert(io.sparklatency.figures.Metric.all.map(_.name.replace('-', '_')).toSet.subsetOf(columns))
  }

  test("an argument is refused in words") {
    val error = intercept[Exception](spark.sql("SELECT * FROM e2e_latency('in_sql')").collect())
    assert(error.getMessage.contains("it takes no arguments; select with WHERE query ="))
  }
}
