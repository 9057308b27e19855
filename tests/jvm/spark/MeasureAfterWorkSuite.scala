package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.struct
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.functions.when

/**
 * The clock is read after the work below the mark and before the work above it, in every way in which Spark can run a plan.
 * One partition of ten rows; each row of slow work takes 50 ms of the test's clock, so row k is 50·k ms old.
 */
class MeasureAfterWorkSuite extends SparkTest with EvaluationModes {

  private def rows: DataFrame =
    spark.range(0, 10, 1, 1).select(col("id"), timestamp_millis(lit(Start)).as("ts"))

  private def expectAfterWork(id: String): Unit =
    assert((
      node(id).records,
      node(id).min,
      node(id).avg,
      node(id).max
    ) === ((10, Some(50), Some(275.0), Some(500))))

  private def expectBeforeWork(id: String): Unit =
    assert((node(id).records, node(id).min, node(id).max) === ((10, Some(0), Some(450))))

  test("a slow column below the mark is in the figure") {
    inEveryMode {
      val id = freshNode()
      run(rows.withColumn("slow", slow(50)(col("id"))).withE2ELatency(id, "ts"))
      expectAfterWork(id)
    }
  }

  test("a slow deterministic column that is used only above the mark is computed, and counted, below it") {
    inEveryMode {
      val id = freshNode()
      val work = slowAndDeterministic(50).asNonNullable()
      run(rows.withColumn(
        "slow",
        work(col("id"))
      ).withE2ELatency(id, "ts").filter(col("slow") >= 0).select("slow"))
      expectAfterWork(id)
    }
  }

  test("a slow column above the mark is not in the figure") {
    inEveryMode {
      val id = freshNode()
      run(rows.withE2ELatency(id, "ts").withColumn("slow", slow(50)(col("id"))))
      expectBeforeWork(id)
    }
  }

  test("a filter above the mark does not sink below it") {
    inEveryMode {
      val id = freshNode()
      run(rows.withE2ELatency(id, "ts").filter(col("id") > 7))
      assert(node(id).records === 10)
    }
  }

  test("projections above and below the mark are not collapsed into one") {
    inEveryMode {
      val id = freshNode()
      val below = rows.select(slow(50)(col("id")).as("a"), col("ts"))
      run(below.withE2ELatency(id, "ts").select(slow(1000)(col("a")).as("b")))
      assert((node(id).min, node(id).max) === ((Some(50), Some(50 + 9 * 1050))))
    }
  }

  test("the mark counts although nothing above reads the timestamp") {
    inEveryMode {
      val id = freshNode()
      assert(rows.withE2ELatency(id, "ts").select("id").count() === 10)
      assert(node(id).records === 10)
    }
  }

  test("a timestamp inside a struct, and one that is null for some rows") {
    inEveryMode {
      val (ofField, ofColumn) = (freshNode(), freshNode())
      val known = when(col("id") < 4, col("ts")).as("ts")
      run(rows.select(col("id"), struct(known).as("event")).withE2ELatency(ofField, "event.ts"))
      run(rows.select(col("id"), known).withE2ELatency(ofColumn, "ts"))
      for (id <- Seq(ofField, ofColumn))
        assert((node(id).records, node(id).long("withoutTimestamp")) === ((10, Some(6))))
    }
  }

  test("two marks of one stage each have their own figures") {
    inEveryMode {
      val (first, second) = (freshNode(), freshNode())
      run(rows.withE2ELatency(
        first,
        "ts"
      ).withColumn("slow", slow(50)(col("id"))).withE2ELatency(second, "ts"))
      expectBeforeWork(first)
      expectAfterWork(second)
    }
  }

  test("a mark below a shuffle and one above it") {
    inEveryMode {
      val (below, above) = (freshNode(), freshNode())
      val counted = rows.withColumn("slow", slow(50)(col("id"))).withE2ELatency(below, "ts")
        .groupBy(col("ts"), col("slow") % 2).count().withE2ELatency(above, "ts")
      run(counted)
      expectAfterWork(below)
      assert((node(above).records, node(above).min) === ((2, Some(500))))
    }
  }
}
