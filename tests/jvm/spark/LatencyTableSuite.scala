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
        """SELECT node, upstream, own, share, records, record_e2e_latency_max, record_commit_latency_avg, query_id, run_id
          |FROM e2e_latency() WHERE query = 'in_sql'""".stripMargin
      ).collect().map(_.toSeq)
      val (id, run) = (query.id.toString, query.runId.toString)
      assert(rows === Array(
        Seq[Any]("source", Nil, 200.0, 1.0, 2L, 300.0, null, id, run),
        Seq[Any]("sink", Seq("source"), 0.0, 0.0, 2L, 300.0, 200.0, id, run)
      ))
      assert(gauges("query.in_sql.node.sink.record-commit-latency-avg") === 200.0)
    } finally query.stop()
  }

  test("its columns are the metrics") {
    val columns = spark.sql("SELECT * FROM e2e_latency()").columns.toSet
    assert(io.sparklatency.Metric.all.map(_.name.replace('-', '_')).toSet.subsetOf(columns))
  }

  test("an argument is refused in words") {
    val error = intercept[Exception](spark.sql("SELECT * FROM e2e_latency('in_sql')").collect())
    assert(error.getMessage.contains("it takes no arguments; select with WHERE query ="))
  }
}
