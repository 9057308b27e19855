package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._

/** A node asks for a timestamp that a step before it has lost: the error names the step, and what became of the column. */
class LostTimestampsSuite extends SparkTest {

  private def rows: DataFrame =
    spark.range(3).select(col("id"), timestamp_millis(col("id")).as("ts"), current_timestamp().as("read_at"))

  private val Read = "name a timestamp; columns that hold one: 'read_at'"
  private val Nowhere =
    "no column here holds a timestamp: keep one through the steps before this node, or give records one as they are read: " +
      "with_ingestion_timestamp, withIngestionTimestamp or ingestion_time()"

  /** The middle of the sentence: what became of `ts`. */
  private val lost = Seq[(String, DataFrame => DataFrame, String)](
    ("dropped", _.drop("ts"), s"among 'id', 'read_at'; the projection to id and read_at drops it; $Read"),
    (
      "projected away",
      _.select("id").filter("id > 0"),
      s"among 'id'; the projection to id drops it; $Nowhere"
    ),
    (
      "aggregated away",
      _.groupBy("id").count(),
      s"among 'id', 'count'; the aggregation by id drops it; $Nowhere"
    ),
    ("counted", _.agg(count("*").as("n")), s"among 'n'; the aggregation of all records drops it; $Nowhere"),
    (
      "renamed",
      _.withColumnRenamed("ts", "at"),
      "among 'id', 'at', 'read_at'; the projection to id, at and read_at renames it to 'at'; name a timestamp; columns that hold one: " +
        "'at', 'read_at'"
    ),
    (
      "renamed and then dropped",
      _.withColumnRenamed("ts", "at").select("id"),
      s"among 'id'; the projection to id, at and read_at renames it to 'at', and the projection to id drops that; $Nowhere"
    ),
    (
      "cast under another name",
      _.select(col("ts").cast("string").as("text")),
      s"among 'text'; the projection to text casts it to STRING, as 'text'; $Nowhere"
    ),
    (
      "not in what a function gives out",
      _.select("ts").as(Encoders.TIMESTAMP).map(_.getTime)(Encoders.scalaLong).toDF("ms"),
      s"among 'ms'; a function (map, flatMap, mapGroups, …) drops it; $Nowhere"
    ),
    (
      "on the right side of a semi join",
      rows => rows.select("id").join(rows, Seq("id"), "left_semi"),
      s"among 'id'; the left semi join drops it; $Nowhere"
    ),
    (
      "of the second input of a union",
      rows => rows.select(col("id"), col("ts").as("at")).union(rows.select("id", "ts")),
      "among 'id', 'at'; the union, which has the names of its first input, drops it; name a timestamp; columns that hold one: 'at'"
    )
  )

  for ((what, steps, said) <- lost) test(s"a timestamp that was $what") {
    val expected = s"node 'n': there is no column 'ts' $said"
    assert(refused(steps(rows).withE2ELatency("n", "ts")) === expected)
    assert(refused(steps(rows).withE2ELatency("n", col("ts"))) === expected)
    assert(refused(steps(rows).hint("E2E_LATENCY", "n", "ts")) === expected)
  }

  test("a timestamp that was cast, or made a number, keeps its name and loses its type") {
    val wrong = "and a timestamp or a window is needed; the projection to id, ts and read_at"
    assert(refused(rows.withColumn("ts", col("ts").cast("string")).withE2ELatency("n", "ts")) ===
      s"node 'n': column 'ts' is of type STRING, $wrong casts it from the TIMESTAMP 'ts'; $Read")
    val twice =
      rows.withColumnRenamed("ts", "at").select(col("id"), unix_millis(col("at")).as("ms")).toDF("id", "ts")
    assert(refused(twice.withE2ELatency("n", "ts")) ===
      "node 'n': column 'ts' is of type BIGINT, and a timestamp or a window is needed; the projection to id and ms makes it of the " +
      s"TIMESTAMP 'at'; $Nowhere")
  }

  test("a timestamp that no step ever had, and one that was computed of nothing") {
    assert(refused(rows.select("id").withE2ELatency("n", "when")) ===
      s"node 'n': there is no column 'when' among 'id'; $Nowhere")
    assert(refused(rows.withColumn("ts", lit("now")).withE2ELatency("n", "ts")) ===
      s"node 'n': column 'ts' is of type STRING, and a timestamp or a window is needed; to_timestamp makes one of a text; $Read")
  }

  test("a watermark that was lost") {
    val rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    assert(refused(rate.groupBy("value").count().withE2ELatency("n")) ===
      "node 'n': no timestamp was given, and no column here has a watermark; the aggregation by value drops 'timestamp', which " +
      s"had one; $Nowhere")
  }

  test(
    "in SQL of several lines the line is named, and a missing column within an expression is traced, too"
  ) {
    rows.createOrReplaceTempView("rows")
    assert(
      refused(spark.sql("SELECT /*+ E2E_LATENCY('n', ts) */ *\nFROM (\n  SELECT id FROM rows)")).contains(
        "among 'id'; the projection to id (line 3) drops it; "
      )
    )
    assert(refused(rows.select("id").withE2ELatency("n", expr("ts + INTERVAL 1 SECOND"))).contains(
      "; the projection to id drops it; "
    ))
  }

  test("a text that is no time does not fail a task: it is a record without a timestamp") {
    val id = freshNode()
    val texts = spark.range(3).select(
      when(
        col("id") === 0,
        date_format(timestamp_millis(lit(Start - 5)), "yyyy-MM-dd HH:mm:ss.SSS")
      ).otherwise("no time").as("text")
    )
    run(texts.withE2ELatency(id, col("text").cast("timestamp")))
    assert((node(id).records, node(id).max, node(id).long("withoutTimestamp")) === ((3, Some(5), Some(2))))
  }

  test("the timestamp that each node goes by is told") {
    val (plain, computed, window) = (freshNode(), freshNode(), freshNode())
    run(rows.withE2ELatency(plain, "ts").withE2ELatency(computed, col("ts") + expr("INTERVAL 1 SECOND")))
    val windows = rows.groupBy(org.apache.spark.sql.functions.window(col("ts"), "1 second")).count()
    run(windows.withE2ELatency(window, "window"))
    assert(Seq(plain, computed, window).map(node(_).text("timestamp")) ===
      Seq(Some("ts"), Some("ts + INTERVAL '01' SECOND"), Some("window.end")))
  }
}
