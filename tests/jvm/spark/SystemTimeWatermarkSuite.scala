package io.sparklatency.spark

import java.lang.ref.WeakReference

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans

/** How a system-time watermark goes by the clock. The lag is 10 s and windows have 10 s unless a test says otherwise. */
class SystemTimeWatermarkSuite extends SystemTimeTest with Patient {
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

  test("filters behind it reach the source, as behind an ordinary one, and also those that read its column") {
    def pushed(df: DataFrame, filter: String = "id > 10 AND ts > TIMESTAMP_MILLIS(5)"): Seq[String] =
      Plans.collect(firstPlan(df.filter(filter))) {
        case scan: FileSourceScanExec => scan.dataFilters.map(_.sql)
      }.flatten.filter(_.contains(">"))
    val events = spark.readStream.schema("id LONG, ts TIMESTAMP").parquet(eventsApart(1))
    def column(of: String) = pushed(events.withWatermark("ts", "10 seconds")).filter(_.contains(of))
    assert(column("id").size === 1 && column("ts").isEmpty)
    assert(pushed(events.withSystemTimeWatermark("ts", "10 seconds")).size === 2)
    assert(pushed(events.withSystemTimeWatermark("ts", "10 seconds"), "id > 10 AND rand() < 0.5").size === 1)
    // Nobody reads its column further on.
    val unread = events.withSystemTimeWatermark("ts", "10 seconds").filter("id > 20").select("id")
    assert(pushed(unread, "id > 10").size === 2)
  }

  test("a session that is left alone is not kept, though it had such a query") {
    def left = {
      val session = spark.newSession()
      session.readStream.format("rate").load().createTempView("rates")
      val query = session.table("rates").withSystemTimeWatermark("timestamp", "10 seconds")
        .writeStream.format("noop").start()
      query.stop()
      new WeakReference(session)
    }
    val session = left
    eventually {
      System.gc()
      assert(session.get === null)
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
