package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import io.sparklatency.time.WallClock
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.types.TimestampType

/** When a record is read, however Spark runs the plan. One partition; each row of slow work takes 50 ms of the test's clock. */
class IngestionTimeSuite extends SparkTest with EvaluationModes {

  private def rows: DataFrame = spark.range(0, 5, 1, 1).toDF()

  /** What stamps tell, in milliseconds since the start. */
  private def stamps(df: DataFrame, column: String = "ingestion_time"): Seq[Long] =
    df.select(column).collect().map(_.getTimestamp(0).getTime - Start).toSeq

  private val eachAfterTheWorkOfThoseBefore = Seq(0, 50, 100, 150, 200)

  test("a stamp is one more column of type TIMESTAMP, without nulls, behind all others") {
    val stamped = rows.withIngestionTimestamp("read at")
    assert(stamped.schema.map(field => (field.name, field.dataType, field.nullable)).last ===
      ((("read at", TimestampType, false))))
    assert(stamped.columns === Seq("id", "read at"))
    assert(stamped.collect().map(_.getLong(0)) === (0 until 5))
  }

  test("each record has the time at which it is read, and not that of its batch") {
    inEveryMode {
      val stamped = rows.withIngestionTimestamp().withColumn("slow", slow(50)(col("id")))
      assert(stamps(stamped.filter(col("slow") >= 0)) === eachAfterTheWorkOfThoseBefore)
    }
  }

  test("a filter and a projection above the stamp do their work after it, whatever reached the source") {
    inEveryMode {
      val work = slowAndDeterministic(50).asNonNullable()
      assert(stamps(rows.withIngestionTimestamp().filter(work(col("id")) =!= 3)) === Seq(0, 50, 100, 200))
      clock.set(Start)
      val below = rows.withColumn("slow", work(col("id"))).filter(col("slow") =!= 3).withIngestionTimestamp()
      assert(stamps(below.filter(col("slow") >= 0)).head === 0)
    }
  }

  test("a stamp is made once for a record, however often it is read") {
    inEveryMode {
      val work = slow(50)
      val twice = rows.withIngestionTimestamp().select(
        col("ingestion_time").as("a"),
        work(col("id")).as("id"),
        (col("ingestion_time") + expr("INTERVAL 0 SECONDS")).as("b")
      ).filter(col("a") === col("b") && col("id") >= 0).filter(col("b") >= timestamp_millis(lit(Start)))
      assert(stamps(twice, "b") === eachAfterTheWorkOfThoseBefore)
    }
  }

  test("a mark right above a stamp finds records of no age, and one above slow work finds its time") {
    inEveryMode {
      val (right, behind) = (freshNode(), freshNode())
      run(rows.withIngestionTimestamp().withE2ELatency(right, "ingestion_time")
        .withColumn("slow", slow(50)(col("id"))).withE2ELatency(behind, "ingestion_time"))
      assert((node(right).records, node(right).min, node(right).max) === ((5, Some(0), Some(0))))
      assert((node(behind).records, node(behind).min, node(behind).max) === ((5, Some(50), Some(50))))
    }
  }

  test("by the clock as it ships no record right above a stamp is younger than nothing") {
    WallClock.reset()
    try {
      val id = freshNode()
      run(spark.range(0, 1000000, 1, 2).toDF().withIngestionTimestamp().withE2ELatency(id, "ingestion_time"))
      assert((node(id).records, node(id).long("aheadOfClock")) === ((1000000, Some(0))), node(id))
    } finally WallClock.install(clock)
  }

  test("a stamp never goes back within a partition, though the clock does") {
    inEveryMode {
      val back = slow(-70)
      val stamped = rows.withIngestionTimestamp().withColumn(
        "work",
        when(col("id") === 1, back(col("id"))).otherwise(slow(50)(col("id")))
      )
      assert(stamps(stamped.filter(col("work") >= 0)) === Seq(0, 50, 50, 50, 80))
    }
  }

  test("where nobody reads it the plan is the plan without it") {
    val shapes = Seq[DataFrame => DataFrame](
      _.select("id"),
      _.filter("id > 2").select(col("id") + 1),
      _.filter(rand(1) < 2).select("id"),
      _.groupBy(col("id") % 2).count(),
      _.agg(count("*")),
      _.drop("ingestion_time").distinct(),
      df => df.join(spark.range(9).toDF("k"), col("id") === col("k")).select("k"),
      df => df.withE2ELatency("n", timestamp_millis(col("id"))).select("id")
    )
    for (shape <- shapes) {
      val (plain, stamped) = (shape(rows), shape(rows.withIngestionTimestamp()))
      assert(
        stamped.queryExecution.optimizedPlan.canonicalized === plain.queryExecution.optimizedPlan.canonicalized
      )
      assert(stamped.queryExecution.sparkPlan.canonicalized === plain.queryExecution.sparkPlan.canonicalized)
    }
  }

  test("rows that Spark has at hand while it plans are stamped when they are read") {
    val local =
      rows.sparkSession.createDataFrame(Seq(Tuple1(1L), Tuple1(2L))).toDF("id").withIngestionTimestamp()
    local.queryExecution.optimizedPlan
    clock.advance(1000)
    assert(stamps(local) === Seq(1000, 1000))
  }

  test("SQL calls it: in a projection, a condition and a grouping") {
    rows.createOrReplaceTempView("rows_to_stamp")
    val projected = spark.sql("SELECT *, ingestion_time() AS read_at FROM rows_to_stamp")
    assert(stamps(projected.withColumn("slow", slow(50)(col("id"))).filter("slow >= 0"), "read_at") ===
      eachAfterTheWorkOfThoseBefore)
    clock.set(Start)
    assert(spark.sql(
      "SELECT id FROM rows_to_stamp WHERE ingestion_time() = TIMESTAMP_MILLIS(1000000)"
    ).count() === 5)
    val grouped = spark.sql(
      "SELECT window.start AS start, count(*) AS n FROM rows_to_stamp GROUP BY window(ingestion_time(), '1 second')"
    )
    assert(grouped.collect().map(row => (row.getTimestamp(0), row.getLong(1))).toSeq ===
      Seq((new Timestamp(Start), 5L)))
  }

  test("a function called with an argument says how it is called") {
    assert(intercept[IllegalArgumentException](spark.sql("SELECT ingestion_time(3)")).getMessage ===
      "ingestion_time(3): it takes no argument; use ingestion_time()")
  }
}
