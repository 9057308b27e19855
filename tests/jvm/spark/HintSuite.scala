package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.latency.NumberedPlans.column
import org.apache.spark.sql.latency.NumberedPlans.numbered
import org.apache.spark.sql.latency.NumberedPlans.ofHinted
import org.apache.spark.sql.latency.marking.LatencyMark
import org.apache.spark.sql.streaming.Trigger

class HintSuite extends SparkTest {

  private def refusedSql(sql: String): String = refused(spark.sql(sql))

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

  test("a timestamp is computed in a hint over common table expressions, which stand outside of its SELECT") {
    val late = "WITH late AS (SELECT *, CAST(ts AS STRING) AS t FROM events WHERE id > 6)"
    for ((condition, records) <- Seq("true" -> 3, "id IN (SELECT max(id) FROM late)" -> 1)) {
      val id = freshNode()
      run(spark.sql(
        s"$late SELECT /*+ E2E_LATENCY('$id', to_timestamp(t)) */ abs(id) AS id, t FROM late WHERE $condition"
      ))
      assert(node(id).figures === ((records, Some(3), Some(3))))
    }
  }

  test("in a subquery the timestamp is a column of its own SELECT, and not of the query around it") {
    def marked(timestamp: String): String =
      s"SELECT /*+ E2E_LATENCY('n', $timestamp) */ id FROM (SELECT id FROM events)"
    val remedy = "no column here holds a timestamp: keep one through the steps before this node, or give " +
      "records one as they are read: with_ingestion_timestamp, withIngestionTimestamp or ingestion_time()"
    val expected = s"node 'n': there is no column 'ts' among 'id'; the projection to id drops it; $remedy"
    assert(refusedSql(marked("ts")) === expected)
    assert(refusedSql(s"SELECT * FROM events WHERE id IN (${marked("ts")})") === expected)
    assert(refusedSql(s"SELECT * FROM events o WHERE id IN (${marked("o.ts")})") === expected)
    assert(refusedSql(s"SELECT * FROM events, LATERAL (${marked("ts")})") === expected)
    val structs = "(SELECT id, struct(ts) AS e FROM events)"
    assert(refusedSql(s"SELECT * FROM $structs WHERE id IN (${marked("e.ts")})") ===
      s"node 'n': there is no column 'e.ts' among 'id'; $remedy")
    val computed = refusedSql(s"SELECT * FROM events WHERE id IN (${marked("date_trunc('DAY', ts)")})")
    assert(computed.startsWith("node 'n': the timestamp cannot be resolved: "), computed)
    val id = freshNode()
    val inside = s"SELECT /*+ E2E_LATENCY('$id', ts) */ * FROM events WHERE id > 3"
    run(spark.sql(s"SELECT * FROM events WHERE id IN (SELECT id FROM ($inside))"))
    assert(node(id).records === 6)
  }

  test(
    "a SELECT that asks for columns of the query around it cannot be marked, and the error says where to put the hint"
  ) {
    val expected =
      "node 'n': its SELECT reads column 'outside.id' of the query around it, where nothing can be measured; " +
        "put the hint one SELECT deeper: FROM (SELECT /*+ E2E_LATENCY('n', …) */ * FROM …)"
    val correlated = "(SELECT /*+ E2E_LATENCY('n', ts) */ ts FROM events e WHERE e.id = outside.id)"
    assert(refusedSql(s"SELECT * FROM events outside WHERE EXISTS $correlated") === expected)
    assert(refusedSql(s"SELECT * FROM events outside, LATERAL $correlated") === expected)

    val (deeper, around, off) = (freshNode(), freshNode(), freshNode())
    val within = s"(SELECT /*+ E2E_LATENCY('$deeper', ts) */ * FROM events) e"
    val sql = s"SELECT /*+ E2E_LATENCY('$around', ts) */ * FROM events outside " +
      s"WHERE EXISTS (SELECT 1 FROM $within WHERE e.id = outside.id)"
    run(spark.sql(sql))
    assert((node(deeper).records, node(around).records) === ((10, 10)))
    // What the level leaves out is not written.
    run(spark.sql(
      s"SELECT * FROM events outside WHERE EXISTS ${correlated.replace("'n', ts", s"'$off', ts, 'TRACE'")}"
    ))
    assert(findNode(off).isEmpty)
  }

  test(
    "a view with the hint may be read more than once in a query, and counts as a mark that is read twice"
  ) {
    val shapes = Seq[(String, String)](
      "SELECT * FROM v UNION ALL SELECT * FROM v" -> "a union",
      "SELECT a.id FROM v a JOIN v b ON a.id = b.id" -> "a join",
      "SELECT id FROM v WHERE id <= (SELECT max(id) FROM v) AND id >= (SELECT min(id) FROM v)" -> "subqueries"
    )
    def hint(id: String) = s"SELECT /*+ E2E_LATENCY('$id', ts) */ *"
    val texts = Seq[String => String](
      id => s"${hint(id)} FROM events",
      id => s"WITH c AS (SELECT * FROM events WHERE id >= 0) ${hint(id)} FROM c",
      id =>
        s"WITH a AS (SELECT * FROM events), b AS (SELECT * FROM a) ${hint(id)} FROM b WHERE id IN (SELECT id FROM a)",
      id => s"${hint(id)}, uuid() AS u, rand() AS r FROM events"
    )
    for ((sql, what) <- shapes) {
      val called = freshNode()
      spark.table("events").withE2ELatency(called, "ts").createOrReplaceTempView("v")
      run(spark.sql(sql))
      val hinted = texts.map { text =>
        val id = freshNode()
        spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW v AS ${text(id)}")
        run(spark.sql(sql))
        id
      }
      for (id <- called +: hinted) assert(node(id).figures === ((10, Some(3), Some(3))), what)
    }
  }

  test("a stream of a view with the hint is joined with itself") {
    val (id, query) = (freshNode(), freshNode())
    spark.readStream.format("rate-micro-batch").option(
      "rowsPerBatch",
      "5"
    ).option("numPartitions", "1").load()
      .withWatermark("timestamp", "10 seconds").createOrReplaceTempView("ticks")
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW v AS SELECT /*+ E2E_LATENCY('$id') */ * FROM ticks")
    val joined =
      spark.sql("SELECT a.value FROM v a JOIN v b ON a.value = b.value AND a.timestamp = b.timestamp")
    joined.writeStream.queryName(
      query
    ).format("noop").trigger(Trigger.AvailableNow).start().awaitTermination()
    assert(node(id, query).records === 5)
  }

  test("a client's column of what has a hint is found, also where the level leaves the node out") {
    for (level <- Seq("INFO", "TRACE")) {
      val events = numbered(spark.table("events").selectExpr("abs(id) AS id", "ts"), 1)
      assert(ofHinted(events, "E2E_LATENCY", freshNode(), "ts", level)("id").count() === 10, level)
    }
    val off = numbered(spark.table("events").selectExpr("abs(id) AS id", "ts"), 1)
    val left = ofHinted(off, "E2E_LATENCY", freshNode(), "ts", "TRACE")("id").queryExecution.optimizedPlan
    assert(left.sameResult(off.select("id").queryExecution.optimizedPlan))
  }

  test("of two columns of one name a client's timestamp is that of its DataFrame") {
    val id = freshNode()
    val events = spark.table("events")
    val older = numbered(spark.range(5).select(col("id"), timestamp_millis(lit(Start - 7)).as("ts")), 2)
    val joined = events.join(older, events("id") === older("id")).withColumn("one", expr("abs(1)"))
    run(ofHinted(joined, "E2E_LATENCY", id, column("ts", 2))("one"))
    assert(node(id).figures === ((5, Some(7), Some(7))))
  }

  test("two hints of one node over different records are refused") {
    def marked(condition: String): String =
      s"SELECT /*+ E2E_LATENCY('n', ts) */ * FROM events WHERE id > $condition"
    val taken = "node 'n' is in this plan already; every node of a query needs an id of its own"
    assert(refusedSql(s"${marked("3")} UNION ALL ${marked("4")}") === taken)
    assert(
      refusedSql(
        s"SELECT * FROM (${marked("3")}) WHERE id IN (SELECT id FROM (${marked("id - 1")}))"
      ) === taken
    )
    val two = "WITH a AS (SELECT * FROM events WHERE id > 6), b AS (SELECT * FROM events WHERE id < 3)"
    def of(name: String) = s"SELECT /*+ E2E_LATENCY('n', ts) */ * FROM $name"
    assert(refusedSql(s"$two ${of("a")} UNION ALL ${of("b")}") === taken)
    spark.table("events").withE2ELatency("n", "ts").createOrReplaceTempView("v")
    assert(refusedSql("SELECT * FROM v UNION ALL SELECT /*+ E2E_LATENCY('n', ts) */ * FROM events") === taken)
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
