package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.latency.ListenerBus

class LatencyTableSuite extends StreamingTest with Patient {

  test("SELECT * FROM e2e_latency() gives a row for each node, with the gauges' figures") {
    val input = stream
    val query = start(marked(input).withE2ELatency("sink"), "in_sql")
    try {
      input.addData(ago(100, 300))
      processAll(query)
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

  test("gauges of a query tell when it last committed, and how often it does") {
    val input = stream
    val query = start(marked(input).withE2ELatency("sink"), "in_gauges")
    def ofQuery(name: String) = gauges(s"query.in_gauges.$name").asInstanceOf[Double]
    try {
      for (ms <- Seq(5000L, 3000L)) {
        input.addData(ago(100, 300))
        processAll(query)
        clock.advance(ms)
      }
      assert(ofQuery("commit-age") === 3000.0 && ofQuery("commit-interval") === 5000.0)
      // A trigger that finds no records runs for a moment, too.
      eventually(assert(ofQuery("batch-in-progress").isNaN && ofQuery("oldest-uncommitted").isNaN))
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
        processAll(query)
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

  test("a query without figures has a row without a node, and every row tells how its query goes") {
    val (plain, shown) = (stream, stream)
    val queries = Seq(start(plain.toDF(), "goes_plain"), start(marked(shown), "goes_marked"))
    def rows =
      spark.sql(
        """SELECT query, node, status, cause, progress, commit_age, batch_in_progress, records FROM e2e_latency()
          |WHERE query LIKE 'goes_%' ORDER BY query""".stripMargin
      ).collect().map(_.toSeq).toSeq
    try {
      for ((input, query) <- Seq(plain, shown).zip(queries); _ <- 1 to 2) {
        input.addData(ago(100))
        processAll(query)
      }
      // A trigger that finds no records runs for a moment, too.
      val Seq(marked, unmarked) = eventually {
        val found = rows
        assert(found.forall(_(6) == null))
        found
      }: @unchecked
      assert(marked.take(4) === Seq("goes_marked", "source", "RUNNING", "one-node"))
      assert(marked(4).toString.contains("The last commit was ") && marked(5) != null && marked(7) === 2L)
      assert(unmarked.take(4) === Seq("goes_plain", null, "RUNNING", "unknown"))
      assert(
        unmarked(4).toString.endsWith("No node of this query has figures.") && unmarked.drop(5) === Seq[Any](
          0L,
          null,
          null
        )
      )
    } finally queries.foreach(_.stop())
    ListenerBus.awaitEmpty(spark.sparkContext)
    assert(rows.map(row => row(2)) === Seq("FINISHED", "FINISHED"))
  }

  test("after a window without records the last batch of each node tells the slowest step") {
    val input = stream
    val query = startWindows(input, "silent")
    try {
      input.addData(ago(100, 300))
      processAll(query) // and a batch without data after it
      assert(!queryOf("silent").get("silent").asBoolean)
      clock.advance(3600000)
      val columns = "node, own, share, silent, records, record_e2e_latency_p99"
      val rows = spark.sql(s"SELECT $columns FROM e2e_latency() WHERE query = 'silent'").collect()
      assert(rows.map(_.toSeq) === Array(
        Seq[Any]("source", 200.0, 1.0, true, 2L, null),
        Seq[Any]("sink", -100.0, 0.0, true, 1L, null)
      ))
      val shown = queryOf("silent")
      assert(shown.get("silent").asBoolean)
      assert(shown.get("slowestStep").asText === "source")
      assert(shown.get("split").get("total").get("avg").asDouble === 100.0)
      val source = shown.get("nodes").get(0)
      assert(source.get("p99").isNull)
      assert(source.get("own").asDouble === 200.0)
      assert(source.get("batch").get("p99").asLong >= 300)
    } finally query.stop()
  }

  test("its columns are the metrics") {
    val columns = spark.sql("SELECT * FROM e2e_latency()").columns.toSet
    import io.sparklatency.figures.Metric
    val metrics =
      Metric.all.map(_.name) ++ Metric.ofQueries.map(_.name) ++ Metric.ofOperators.map(_.name)
    assert(metrics.map(_.replace('-', '_')).toSet.subsetOf(columns))
  }

  test("an argument is refused in words") {
    val error = intercept[Exception](spark.sql("SELECT * FROM e2e_latency('in_sql')").collect())
    assert(error.getMessage.contains("it takes no arguments; select with WHERE query ="))
  }
}
