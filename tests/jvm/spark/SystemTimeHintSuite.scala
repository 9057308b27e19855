package io.sparklatency.spark

import org.apache.spark.sql.latency.NumberedPlans.numbered
import org.apache.spark.sql.latency.NumberedPlans.ofHinted

/** The hint, in statements that are analyzed as a whole, as they are in SQL and under Spark Connect. */
class SystemTimeHintSuite extends SystemTimeTest {
  private val watermarked = "(SELECT /*+ SYSTEM_TIME_WATERMARK('value', '10 seconds') */ * FROM whole)"

  test("an aggregation above it goes by the watermark") {
    val input = stream
    input.toDF().createOrReplaceTempView("whole")
    val counts = spark.sql(s"SELECT window(value, '10 seconds').end AS end, count(*) FROM $watermarked " +
      "GROUP BY window(value, '10 seconds')")
    running(counts.select(seconds("end"), counts("count(1)"))) { it =>
      it.reads(input, 1)
      it.comesTo(19.999)
      assert(it.rows === Nil)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("a mark above it finds its column") {
    stream.toDF().createOrReplaceTempView("whole")
    val node = freshNode()
    assert(spark.sql(s"SELECT /*+ E2E_LATENCY('$node') */ * FROM $watermarked").columns === Array("value"))
  }

  test("it is for a column that the SELECT gives out") {
    stream.toDF().createOrReplaceTempView("whole")
    val refusal = intercept[IllegalArgumentException](spark.sql(
      "SELECT /*+ SYSTEM_TIME_WATERMARK('value', '10 seconds') */ count(*) AS records FROM whole"
    ))
    assert(refusal.getMessage ===
      "system-time watermark: the column 'value' is not there; the columns are 'records'")
  }

  test("a client's column of what has a hint is found, though nothing is left of the hint") {
    val batch = numbered(spark.range(3).selectExpr("id", "timestamp_seconds(id) AS at"), 1)
    assert(ofHinted(batch, "SYSTEM_TIME_WATERMARK", "at", "1 second")("id").count() === 3)
    val waiting = numbered(stream.toDF().withWatermark("value", "1 second"), 2)
    assert(ofHinted(waiting, "IDLE_TIMEOUT", "1 minute")("value").columns === Array("value"))
  }

  test("a view with a mark above it may be read twice, though each reading makes another watermark") {
    stream.toDF().createOrReplaceTempView("whole")
    val marked = s"SELECT /*+ E2E_LATENCY('${freshNode()}') */ * FROM $watermarked"
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW read_twice AS $marked")
    assert(
      spark.sql("SELECT * FROM read_twice UNION ALL SELECT * FROM read_twice").columns === Array("value")
    )
  }
}
