package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** How a system-time watermark goes by the clock. The lag is 10 s and windows have 10 s unless a test says otherwise. */
class SystemTimeWatermarkSuite extends SystemTimeTest {
  test("the last window closes by itself when the clock is past its end by the lag") {
    val input = stream
    running(windows(lagging(input))) { it =>
      it.reads(input, 1, 2)
      it.comesTo(19.999)
      assert(it.rows === Nil)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }

  test("by event time it never closes") {
    val input = stream
    running(windows(input.toDF().withWatermark("value", "10 seconds"))) { it =>
      it.reads(input, 1, 2)
      it.comesTo(100000)
      assert(it.rows === Nil)
    }
  }

  test("an event from the future does not push the watermark on") {
    val input = stream
    running(windows(lagging(input))) { it =>
      it.reads(input, 1, 500)
      it.comesTo(1)
      it.reads(input, 2)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }

  test("an event that comes later than the lag is dropped, one that comes earlier is not") {
    val input = stream
    running(windows(lagging(input))) { it =>
      it.reads(input, 1)
      it.comesTo(19)
      it.reads(input, 2)
      it.comesTo(20)
      it.comesTo(21) // late is what is late by the watermark of the batch before
      it.reads(input, 3)
      it.comesTo(40)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }

  test("when the clock is set back the watermark waits for it, and when it is set forward it follows") {
    val input = stream
    running(windows(lagging(input))) { it =>
      it.reads(input, 15, 31)
      it.comesTo(30)
      assert(it.rows === Seq(Seq(20.0, 1)))
      assert(it.watermark === 20.0)
      it.comesTo(-500)
      it.reads(input, 32)
      assert(it.watermark === 20.0)
      it.comesTo(49.9)
      assert(it.watermark === 39.9)
      assert(it.rows.size === 1)
      it.comesTo(5000)
      assert(it.rows === Seq(Seq(20.0, 1), Seq(40.0, 2)))
    }
  }

  test("with no lag an event that is stamped as it is read is never late") {
    val input = stream
    val df =
      input.toDF().withColumn("value", current_timestamp()).withSystemTimeWatermark("value", "0 seconds")
    running(df.groupBy(window(col("value"), "1 second")).count(), "update") { it =>
      clock.set(System.currentTimeMillis())
      for (_ <- 1 to 5) {
        it.reads(input, 0)
        clock.set(System.currentTimeMillis())
        processAll(it.query)
      }
      assert(it.query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum === 0)
    }
  }

  test("while the clock stands, no batch follows another") {
    val input = stream
    running(windows(lagging(input))) { it =>
      it.reads(input, 1)
      val before = it.batches
      (1 to 20).foreach(_ => processAll(it.query))
      assert(it.batches === before)
      it.comesTo(0.999)
      assert(it.batches === before)
      it.comesTo(1)
      assert(it.batches === before + 1)
    }
  }

  test("the setting says how often it moves at most") {
    withSettings("spark.sparklatency.watermark.interval" -> "5s") {
      val input = stream
      running(windows(lagging(input))) { it =>
        it.reads(input, 1)
        val before = it.batches
        it.comesTo(4)
        assert(it.batches === before)
        it.comesTo(5)
        assert(it.batches === before + 1)
        assert(it.watermark === -5.0)
      }
    }
  }

  test("a batch query has no system-time watermark") {
    val df = spark.range(1).selectExpr("timestamp_seconds(id) as value")
    assert(df.withSystemTimeWatermark("value", "10 seconds") eq df)
  }

  test("the hint sets a system-time watermark, too") {
    val input = stream
    input.toDF().createOrReplaceTempView("hinted")
    val df: DataFrame = spark.sql("SELECT /*+ SYSTEM_TIME_WATERMARK('value', '10 seconds') */ * FROM hinted")
    running(windows(df)) { it =>
      it.reads(input, 1)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("a system-time watermark closes windows in a session that has it from another one, by a global view") {
    val input = stream
    lagging(input).createOrReplaceGlobalTempView("lagging")
    running(windows(spark.newSession().table("global_temp.lagging"))) { it =>
      it.reads(input, 1)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }
}
