package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** Streaming queries of every shape that automatic nodes are to leave as they are. */
trait AutomaticPlans extends StreamingTest {

  /** Events of a hundred seconds: some windows lie behind the watermark, so each query has an output. */
  private lazy val parquet: String = eventsApart(1000)

  /**
   * Those that drop their timestamp. It comes along to the end: with each the projections there, the first of which drops it, and
   * the second has it beside what the query gives out.
   */
  protected val carries: Map[String, (String, String)] = Map(
    "pruned without the timestamp" -> ("Project [id#]" -> "Project [id#, ts#-T60000ms]"),
    "pushed filter and projection" ->
      ("Project [(id + 1)#]" -> "Project [(id# + 1) AS (id + 1)#, ts#-T60000ms]"),
    "rate without its timestamp" -> ("Project [value#]" -> "Project [value#, timestamp#]"),
    "window aggregate as text" ->
      ("Project [to_json(struct(window, count))#]" ->
        "Project [to_json(struct(window, count))#, window#-T60000ms]")
  )

  protected var isMarkedByHand = false

  private def files: DataFrame = {
    val events = spark.readStream.schema("id LONG, ts TIMESTAMP, unread STRING").parquet(parquet)
    val watermarked = events.withWatermark("ts", "1 minute")
    if (isMarkedByHand) watermarked.withE2ELatency("by hand") else watermarked
  }

  private def static: DataFrame = spark.range(100).select(col("id"), (col("id") * 2).as("twice"))

  private def rate: DataFrame =
    spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "10").load()

  /** Name, output mode, query. */
  protected val plans: Seq[(String, String, () => DataFrame)] = Seq(
    ("files", "append", () => files),
    ("pruned", "append", () => files.select("ts")),
    ("pruned without the timestamp", "append", () => files.select("id")),
    ("pushed filter", "append", () => files.filter(col("id") > 10)),
    ("pushed filter and projection", "append", () => files.filter(col("id") > 10).select(col("id") + 1)),
    ("broadcast join", "append", () => files.join(broadcast(static), "id")),
    ("sort-merge join", "append", () => files.hint("merge").join(static.hint("merge"), "id")),
    ("repartition", "append", () => files.repartition(3)),
    ("repartition by column", "append", () => files.repartition(3, col("id")).filter(col("id") > 3)),
    ("coalesce", "append", () => files.coalesce(1)),
    ("explode", "append", () => files.select(col("ts"), explode(array(lit(1), lit(2))))),
    ("union", "append", () => files.select("id", "ts").union(files.select("id", "ts"))),
    ("window aggregate", "append", () => files.groupBy(window(col("ts"), "1 second")).agg(max("ts"))),
    (
      "window aggregate as text",
      "append",
      () => files.groupBy(window(col("ts"), "1 second")).count().select(to_json(struct("*")))
    ),
    (
      "window aggregate in update mode",
      "update",
      () => files.groupBy(window(col("ts"), "1 second"), col("id")).count()
    ),
    ("complete aggregate", "complete", () => files.groupBy("id").agg(max("ts"), count("*"))),
    (
      "ordered complete aggregate",
      "complete",
      () => files.groupBy("id").agg(max("ts").as("last")).orderBy("last")
    ),
    (
      "distinct count",
      "update",
      () => files.groupBy(window(col("ts"), "1 minute")).agg(approx_count_distinct("id"))
    ),
    (
      "session window",
      "append",
      () => files.groupBy(session_window(col("ts"), "1 second"), col("id")).count()
    ),
    (
      "sort aggregate",
      "append",
      () => files.groupBy(window(col("ts"), "1 second")).agg(max(col("id").cast("string")))
    ),
    (
      "sort aggregate in update mode",
      "update",
      () => files.groupBy(window(col("ts"), "1 second"), col("id")).agg(max(col("id").cast("string")))
    ),
    (
      "sort aggregate of a session window",
      "append",
      () => files.groupBy(session_window(col("ts"), "1 second"), col("id")).agg(max(col("id").cast("string")))
    ),
    (
      "object aggregate",
      "append",
      () => files.groupBy(window(col("ts"), "1 second")).agg(collect_list("id"))
    ),
    ("deduplicate", "append", () => files.dropDuplicates("id", "ts")),
    ("deduplicate within watermark", "append", () => files.dropDuplicatesWithinWatermark("id")),
    ("limit", "append", () => files.limit(5)),
    (
      "stream-stream join",
      "append",
      () =>
        files.as("l").join(
          files.select(col("id"), col("ts").as("t")).as("r"),
          expr("l.id = r.id AND l.ts = r.t")
        )
    ),
    (
      "from_json",
      "append",
      () =>
        files.select(
          from_json(concat(lit("{\"a\": "), col("id"), lit("}")), "a INT", Map.empty[String, String]),
          col("ts")
        )
    ),
    ("rate", "append", () => rate),
    ("rate without its timestamp", "append", () => rate.select("value").filter("value % 2 = 0")),
    ("python-like opaque function", "append", () => files.withColumn("x", slow(0)(col("id"))))
  )
}
