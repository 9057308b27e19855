package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans

/** What an ingestion stamp leaves of the plan: of batches that read files. */
class IngestionPlansSuite extends StreamingTest {
  private lazy val parquet: String = eventsApart(1)

  private def files: DataFrame =
    spark.readStream.schema("id LONG, ts TIMESTAMP, unread STRING").parquet(parquet)

  private def scan(plan: SparkPlan): FileSourceScanExec =
    Plans.collect(plan) { case scan: FileSourceScanExec => scan }.head

  test("filters that do not read the stamp, and the columns that are read, reach the source as without it") {
    for (format <- Seq("parquet", "")) withSettings("spark.sql.sources.useV1SourceList" -> format) {
      val batch = spark.read.parquet(parquet)
      def shape(df: DataFrame): DataFrame =
        df.filter("id > 10").filter("id % 2 = 0").select((col("id") + 1).as("x"))
      def stamped(df: DataFrame): DataFrame =
        df.withIngestionTimestamp().filter("id > 10").filter("id % 2 = 0")
          .filter("ingestion_time >= TIMESTAMP_MILLIS(5)").select(
            (col("id") + 1).as("x"),
            col("ingestion_time")
          )
      assert(stamped(batch).drop("ingestion_time").collect() === shape(batch).collect())
      def scanned(df: DataFrame): String =
        df.queryExecution.executedPlan.collectLeaves().map(_.toString.replaceAll("#\\d+L?", "#")).mkString
      assert(scanned(stamped(batch)) === scanned(shape(batch)))
      assert(scanned(stamped(batch)).contains("GreaterThan(id,10)"), scanned(stamped(batch)))
    }
  }

  test("the filters that a streaming source leaves stand above the stamp, in one stage of generated code") {
    val plan = firstPlan(files.withIngestionTimestamp().filter("id > 10").filter("id % 2 = 0").drop("ts"))
    assert(scan(plan).dataFilters.map(_.sql).exists(_.contains("id > ")))
    assert(scan(plan).requiredSchema.fieldNames === Seq("id", "unread"))
    val operators = Plans.withoutMarks(plan).linesIterator.map(_.trim.takeWhile(_ != ' ')).toSeq
    assert(
      operators.mkString(" ") ===
        "WriteToDataSourceV2 WholeStageCodegen Filter Project ColumnarToRow InputAdapter FileScan",
      Plans.withoutMarks(plan)
    )
  }

  test("a batch whose stamps nobody reads has the plan that it has without them") {
    val shapes = Seq[(String, DataFrame => DataFrame)](
      "append" -> (_.select("id")),
      "append" -> (_.filter("id > 10").select(col("id") + 1)),
      "append" -> (_.filter(rand(1) < 2).select("id")),
      "append" -> (_.drop("ingestion_time")),
      "append" -> (_.withWatermark("ts", "1 minute").dropDuplicates("id", "ts").select("id")),
      "update" -> (_.withWatermark("ts", "1 minute").groupBy(window(col("ts"), "1 second")).count()),
      "append" -> (df => df.select("id").union(df.select("id"))),
      "append" -> (_.join(broadcast(spark.range(100).toDF("k")), col("id") === col("k")).select("k"))
    )
    for ((mode, shape) <- shapes) {
      val (plain, stamped) =
        (firstPlan(shape(files), mode), firstPlan(shape(files.withIngestionTimestamp()), mode))
      assert(Plans.withoutMarks(stamped) === Plans.withoutMarks(plain))
    }
  }
}
