package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.latency.marking.LatencyMark

class HintSuite extends SparkTest {

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    spark.range(0, 10, 1, 1).select(
      col("id"),
      timestamp_millis(lit(Start - 3)).as("ts")
    ).createOrReplaceTempView("events")
  }

  test("SQL marks what a SELECT gives") {
    val id = freshNode()
    run(spark.sql(s"SELECT /*+ E2E_LATENCY('$id', ts) */ * FROM events WHERE id >= 4"))
    assert((node(id).records, node(id).max) === ((6, Some(3))))
  }

  test("the timestamp may be a name or a field of a struct") {
    val (name, nested) = (freshNode(), freshNode())
    run(spark.table("events").hint("e2e_latency", name, "ts"))
    run(spark.sql(s"SELECT /*+ E2E_LATENCY('$nested', e.ts) */ * FROM (SELECT struct(ts) AS e FROM events)"))
    assert(Seq(name, nested).map(node(_).max) === Seq(Some(3), Some(3)))
  }

  test("without a timestamp the watermarked column is taken") {
    val stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    for (
      hinted <-
        Seq(stream.hint("E2E_LATENCY", "source"), stream.hint("E2E_LATENCY", "source", lit(null), "INFO"))
    ) {
      val marks = hinted.queryExecution.analyzed.collect { case mark: LatencyMark =>
        mark.node -> mark.timestamp.sql
      }
      assert(marks === Seq("source" -> "timestamp"))
    }
  }

  test("a hint over a common table expression") {
    val id = freshNode()
    run(spark.sql(
      s"WITH late AS (SELECT * FROM events WHERE id > 6) SELECT /*+ E2E_LATENCY('$id', ts) */ * FROM late"
    ))
    assert(node(id).records === 3)
  }

  test("a level can be given") {
    val id = freshNode()
    run(spark.sql(s"SELECT /*+ E2E_LATENCY('$id', ts, 'TRACE') */ * FROM events"))
    assert(findNode(id).isEmpty)
  }

  test("a client can ask which release the server has") {
    assert(spark.sql("SELECT e2e_latency_version()").head().getString(0) === PythonApi.version())
  }

  test("where the session drops all hints the statement runs without its node, and the log says so once") {
    val id = freshNode()
    withSettings("spark.sql.optimizer.disableHints" -> "true") {
      val log = Logged.during {
        for (_ <- 1 to 2) run(spark.sql(s"SELECT /*+ COALESCE(1), e2e_latency('$id', ts) */ * FROM events"))
        run(spark.sql("SELECT 'E2E_LATENCY' AS text, * FROM events"))
      }
      assert(log.filter(_.contains("E2E_LATENCY")) === Seq(
        "spark.sql.optimizer.disableHints is true: Spark drops the hint E2E_LATENCY, and its node is not measured"
      ))
      assert(findNode(id).isEmpty)
      // A mark that is no hint does not mind.
      run(spark.table("events").withE2ELatency(id, "ts"))
      assert(node(id).records === 10)
    }
  }
}
