package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._

/** Where nothing comes, a system-time watermark moves all the same. */
class SystemTimeSilenceSuite extends SystemTimeTest {
  test("no record has ever come") {
    val input = stream
    running(windows(lagging(input))) { it =>
      it.comesTo(100)
      assert(!it.query.lastProgress.durationMs.containsKey("addBatch")) // nothing is open, so no batch
      it.reads(input, 95)
      assert(it.watermark === 90.0)
      it.comesTo(110)
      assert(it.rows === Seq(Seq(100.0, 1)))
    }
  }

  test("all rows are filtered out") {
    val input = stream
    running(windows(lagging(input).where(expr(s"unix_millis(value) < ${Start + 10000}")))) { it =>
      it.reads(input, 1)
      it.reads(input, 50, 60)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("a filter below lets no row through") {
    val input = stream
    val df = input.toDF().where(expr(s"unix_millis(value) < ${Start + 10000}")).withSystemTimeWatermark(
      "value",
      "10 seconds"
    )
    running(windows(df)) { it =>
      it.reads(input, 1)
      it.reads(input, 50, 60)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("one of two inputs is silent, from the beginning: outer rows are given out") {
    val (left, right) = (stream, stream)
    val joined = lagging(left).select(col("value").as("l")).join(
      lagging(right).select(col("value").as("r")),
      expr("l = r"),
      "left_outer"
    ).select(seconds("l"), seconds("r"))
    running(joined) { it =>
      it.reads(left, 1)
      it.comesTo(10.9)
      assert(it.rows === Nil)
      it.comesTo(11)
      assert(it.rows === Seq(Seq[Any](1.0, null)))
      it.reads(right, 14)
      it.reads(left, 14)
      assert(it.rows === Seq(Seq[Any](1.0, null), Seq[Any](14.0, 14.0)))
    }
  }

  test("where Spark is to run no batch without data, none is run") {
    withSettings("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      val input = stream
      running(windows(lagging(input))) { it =>
        it.reads(input, 1)
        it.comesTo(50)
        assert(it.rows === Nil)
        it.reads(input, 45)
        assert(it.rows === Seq(Seq(10.0, 1)))
      }
    }
  }
}
