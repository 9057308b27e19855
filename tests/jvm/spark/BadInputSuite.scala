package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus

/** A user's mistake fails at the call, says what is wrong and what to do. */
class BadInputSuite extends SparkTest {

  private def rows: DataFrame =
    spark.range(3).select(col("id"), timestamp_millis(col("id")).as("ts"), current_timestamp().as("read_at"))

  test("an unknown column is named, with the columns that would do") {
    val expected = "node 'n': there is no column 'tss' among 'id', 'ts', 'read_at'; name a timestamp; " +
      "columns that hold one: 'ts', 'read_at'"
    assert(refused(rows.withE2ELatency("n", "tss")) === expected)
    assert(refused(rows.withE2ELatency("n", col("tss"))) === expected)
    assert(refused(rows.hint("E2E_LATENCY", "n", "tss")) === expected)
  }

  test("a column that is neither a timestamp nor a window") {
    assert(refused(rows.withE2ELatency("n", "id")) ===
      "node 'n': column 'id' is of type BIGINT, and a timestamp or a window is needed; timestamp_millis makes one of a number of " +
      "milliseconds, timestamp_seconds of a number of seconds; name a timestamp; columns that hold one: 'ts', 'read_at'")
    assert(refused(rows.select("id").withE2ELatency(
      "n",
      "id"
    )).endsWith("keep one through the steps before this node, or give records one as they are read: " +
      "with_ingestion_timestamp, withIngestionTimestamp or ingestion_time()"))
  }

  test("a column that holds a time in another form: the error says what makes a timestamp of it") {
    val number =
      "timestamp_millis makes one of a number of milliseconds, timestamp_seconds of a number of seconds"
    val forms = Seq(
      "'2026-11-28 10:00:00'" -> "to_timestamp makes one of a text",
      "1795860000000L" -> number,
      "1795860000" -> number,
      "1.7e9D" -> number,
      "DATE '2026-11-28'" -> "a cast to TIMESTAMP makes one of a date: its midnight"
    )
    for ((form, said) <- forms) {
      val df = rows.selectExpr(s"$form AS ts")
      assert(refused(df.withE2ELatency("n", "ts")).contains(s"a timestamp or a window is needed; $said; "))
    }
  }

  test("a timestamp within a struct is named as it can be asked for") {
    val nested = rows.select(
      col("id"),
      struct(
        col("ts"),
        struct(col("read_at").as("a.b")).as("inner"),
        window(col("ts"), "1 second").as("w")
      ).as("event"),
      array(col("ts")).as("many")
    )
    for (asked <- Seq("ts", "event", "many"))
      assert(refused(nested.withE2ELatency("n", asked)).endsWith(
        "name a timestamp; columns that hold one: 'event.ts', 'event.inner.`a.b`', 'event.w'"
      ))
    for (named <- Seq("event.ts", "event.inner.`a.b`", "event.w"))
      run(nested.withE2ELatency(freshNode(), named))
  }

  test("no timestamp and no watermark") {
    val remedy = "name a timestamp; columns that hold one: "
    assert(refused(rows.withE2ELatency("n")) ===
      s"node 'n': no timestamp was given, and a batch query has no watermark; $remedy'ts', 'read_at'")
    assert(refused(spark.readStream.format("rate").load().withE2ELatency("n")) ===
      s"node 'n': no timestamp was given, and no column here has a watermark; $remedy'timestamp'")
  }

  test("a column with a dot in its name") {
    val dotted = rows.withColumnRenamed("ts", "event.ts")
    assert(refused(dotted.withE2ELatency("n", "event.ts")) ===
      "node 'n': the name of column 'event.ts' has a dot in it; write it in backticks: `event.ts`")
    run(dotted.withE2ELatency(freshNode(), "`event.ts`"))
    // Also where the part before the dot is a column, or an expression has the name.
    val beside = dotted.withColumnRenamed("id", "event").withColumn("Event.s", struct("read_at"))
    def said(name: String, quoted: String) =
      s"node 'n': the name of column '$name' has a dot in it; write it in backticks: $quoted"
    for (name <- Seq("event.ts", "EVENT.TS"); asked <- Seq(col(name), expr(s"$name + INTERVAL 1 SECOND")))
      assert(refused(beside.withE2ELatency("n", asked)) === said(name, "`event.ts`"))
    assert(refused(beside.withE2ELatency("n", "event.s.read_at")) ===
      said("event.s.read_at", "`Event.s`.read_at"))
    assert(refused(beside.hint("E2E_LATENCY", "n", "event.ts")) === said("event.ts", "`event.ts`"))
    run(beside.withE2ELatency(freshNode(), "`Event.s`.read_at"))
  }

  test("two columns of one name") {
    val twice = rows.toDF("id", "ts", "ts")
    val expected =
      "node 'n': there are several columns 'ts'; rename all but one, or give the one as a Column"
    assert(refused(twice.withE2ELatency("n", "ts")) === expected)
    assert(refused(twice.withE2ELatency("n", col("ts"))) === expected)
    assert(refused(twice.hint("E2E_LATENCY", "n", "ts")) === expected)
    val (left, right) = (rows, rows)
    assert(left.crossJoin(right).withE2ELatency(freshNode(), left("ts")).count() === 9)
  }

  test("a name that is not well quoted") {
    for (name <- Seq("`ts", "ts`", "a..b", "a."))
      assert(refused(rows.withE2ELatency(
        "n",
        name
      )) === s"node 'n': '$name' cannot be read as the name of a " +
        "column; a dot leads into a struct; a name that has a dot in it stands between two backticks")
  }

  test("a field of what is no struct") {
    assert(refused(rows.withE2ELatency(
      "n",
      "ts.at"
    )).startsWith("node 'n': column 'ts.at' cannot be read: ["))
  }

  test("a column of another DataFrame, or of an earlier step, is named without Spark's plan") {
    val other = spark.range(3).select(timestamp_millis(col("id")).as("when"))
    val expected =
      "node 'n': column 'when' is of another DataFrame; name a timestamp; " +
        "columns that hold one: 'ts', 'read_at'"
    assert(refused(rows.withE2ELatency("n", other("when"))) === expected)
    assert(refused(rows.withE2ELatency("n", other("when") + expr("INTERVAL 1 SECOND"))) === expected)
    val earlier = rows
    assert(refused(earlier.select("id", "read_at").withE2ELatency("n", earlier("ts"))) ===
      "node 'n': column 'ts' is no longer here; the projection to id and read_at drops it; name a timestamp; columns that hold one: " +
      "'read_at'")
  }

  test("an expression over a column that there is not, in Spark's words") {
    val text = refused(rows.withE2ELatency("n", expr("nope + INTERVAL 1 SECOND")))
    assert(text.startsWith("node 'n': the timestamp cannot be resolved: [UNRESOLVED_COLUMN"))
    assert(!text.contains("\n") && text.endsWith("columns that hold one: 'ts', 'read_at'"))
  }

  test("no timestamp and two columns with a watermark") {
    def stream(column: String) = spark.readStream.format("rate").load().withColumnRenamed("timestamp", column)
      .withWatermark(column, "1 second")
    val both = stream("ts").join(stream("other"), "value")
    assert(refused(
      both.withE2ELatency("n")
    ) === "node 'n': no timestamp was given, and several columns have a watermark: " +
      "'ts', 'other'; name one of them")
  }

  test("node ids that are empty, too long or taken") {
    assert(refused(rows.withE2ELatency("", "ts")) === "a node id must not be empty")
    assert(refused(rows.withE2ELatency("  ", "ts")) === "a node id must not be empty")
    assert(refused(rows.withE2ELatency(null, "ts")) === "a node id must not be empty")
    assert(refused(rows.withE2ELatency(
      "n" * 257,
      "ts"
    )).contains("has 257 characters; at most 256 are allowed"))
    val taken = "node 'n' is in this plan already; every node of a query needs an id of its own"
    assert(refused(rows.withE2ELatency("n", "ts").filter("id > 0").withE2ELatency("n", "ts")) === taken)
    assert(refused(rows.withE2ELatency("n", "ts").join(rows.withE2ELatency("n", "ts"), "id")) === taken)
    rows.withE2ELatency("n", "ts").createOrReplaceTempView("marked")
    assert(refused(rows.withE2ELatency("n", "ts").filter("id <= (SELECT max(id) FROM marked)")) === taken)
  }

  test("the same mark on both sides of a self-join is no mistake") {
    val marked = rows.withE2ELatency(freshNode(), "ts")
    assert(marked.as("a").join(marked.as("b"), expr("a.id = b.id")).count() === 3)
  }

  test("a level that does not exist, and NONE, which no node has") {
    assert(refused(rows.withE2ELatency("n", "ts", "FINE")) ===
      "node 'n': there is no recording level 'FINE'; use one of INFO, DEBUG, TRACE")
    assert(refused(rows.withE2ELatency("n", "ts", "NONE")).contains("use one of INFO, DEBUG, TRACE"))
  }

  test("a timestamp that is not of the row: the batch's own time, a random one, a subquery") {
    for (
      timestamp <-
        Seq(current_timestamp(), timestamp_millis((rand() * 10).cast("long")), expr("(SELECT now())"))
    )
      assert(refused(rows.withE2ELatency(
        "n",
        timestamp
      )).endsWith("compute it in a column of its own and name that"))
  }

  test("a hint that cannot be read says how it is written") {
    rows.createOrReplaceTempView("rows")
    val usage =
      "use E2E_LATENCY('node'), E2E_LATENCY('node', timestamp) or E2E_LATENCY('node', timestamp, 'level')"
    assert(refused(spark.sql("SELECT /*+ E2E_LATENCY(ts) */ * FROM rows")).endsWith(usage))
    assert(refused(spark.sql("SELECT /*+ E2E_LATENCY('n', ts, 'INFO', 3) */ * FROM rows")).endsWith(usage))
    assert(refused(rows.hint("E2E_LATENCY")).endsWith(usage))
  }

  test("a bad setting is named with its value and what is allowed") {
    spark.conf.set("spark.sparklatency.recording.level", "LOUD")
    try assert(refused(rows.withE2ELatency("n", "ts")) ===
        "spark.sparklatency.recording.level=LOUD is not valid: NONE, INFO, DEBUG, TRACE is allowed")
    finally spark.conf.unset("spark.sparklatency.recording.level")
  }

  test("figures of a query that does not exist: those that do are named, or the nearest ten") {
    run(rows.withE2ELatency(freshNode(), "ts"))
    ListenerBus.awaitEmpty(spark.sparkContext)
    val text = refused(PythonApi.latencyJson(spark, "__bach__"))
    assert(
      text.startsWith(
        "no figures of a query '__bach__': there is no query of this name or id, none of its batches with a marked node has ended yet, or newer runs have taken its place; there are figures of '"
      ) && text.contains("'__batch__'")
    )
  }

  test("an ingestion timestamp whose name is taken, in any case, or empty") {
    for (name <- Seq("ts", "TS"))
      assert(refused(rows.withIngestionTimestamp(name)) ===
        "there is a column 'ts' already; give the ingestion timestamp another name")
    for (name <- Seq("", " ", null))
      assert(refused(rows.withIngestionTimestamp(name)) ===
        "the column of an ingestion timestamp needs a name; the usual one is 'ingestion_time'")
    assert(refused(rows.withIngestionTimestamp().withIngestionTimestamp()) ===
      "there is a column 'ingestion_time' already; give the ingestion timestamp another name")
    withSettings("spark.sql.caseSensitive" -> "true") {
      assert(rows.withIngestionTimestamp("TS").columns.last === "TS")
    }
  }

  test("an ingestion timestamp with an odd name is read by that name") {
    for (name <- Seq("read.at", "`", "read at", "Zeit ⏱", "*"))
      run(rows.withIngestionTimestamp(name).withE2ELatency(
        freshNode(),
        s"`${name.replace("`", "``")}`"
      ))
  }

  test("an ingestion timestamp that was cast, or dropped") {
    val stamped = rows.select("id").withIngestionTimestamp()
    assert(refused(stamped.withColumn("ingestion_time", col("ingestion_time").cast("string"))
      .withE2ELatency("n", "ingestion_time")).startsWith(
      "node 'n': column 'ingestion_time' is of type STRING, and a timestamp or a window is needed; the projection to id " +
        "and ingestion_time casts it from the TIMESTAMP 'ingestion_time'; no column here holds"
    ))
    assert(refused(stamped.drop("ingestion_time").withE2ELatency("n", "ingestion_time")).startsWith(
      "node 'n': there is no column 'ingestion_time' among 'id'; the projection to id drops it; no column here holds a " +
        "timestamp: keep one"
    ))
  }
}
