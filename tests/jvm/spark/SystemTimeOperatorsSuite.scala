package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.ExpiredTimerInfo
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streaming.StatefulProcessor
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.streaming.TimerValues

/** Every operator that keeps state goes by a system-time watermark, in every output mode. */
class SystemTimeOperatorsSuite extends SystemTimeTest {
  test("in update mode a closed window is forgotten, and what comes for it then is late") {
    val input = stream
    running(windows(lagging(input)), "update") { it =>
      it.reads(input, 1)
      assert(it.rows === Seq(Seq(10.0, 1)))
      assert(it.kept === 1)
      it.comesTo(20)
      assert(it.kept === 0)
      it.comesTo(21)
      it.reads(input, 2)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("in complete mode there is nothing to close, and so no batch without data") {
    val input = stream
    running(windows(lagging(input)), "complete") { it =>
      it.reads(input, 1)
      val before = it.batches
      it.comesTo(50)
      assert(it.batches === before)
      it.reads(input, 2)
      assert(it.rows === Seq(Seq(10.0, 1), Seq(10.0, 2)))
      assert(it.watermark === 40.0)
    }
  }

  test("session windows close") {
    val input = stream
    val sessions = lagging(input).groupBy(
      expr("unix_millis(value) % 1"),
      session_window(col("value"), "5 seconds")
    ).count()
      .select(seconds("session_window.end"), col("count"))
    running(sessions) { it =>
      it.reads(input, 1, 4)
      it.comesTo(18)
      assert(it.rows === Nil)
      it.comesTo(19)
      assert(it.rows === Seq(Seq(9.0, 2)))
    }
  }

  test("session windows have no update mode in Spark, with a system-time watermark as without") {
    def refused(df: DataFrame): String = {
      val sessions =
        df.groupBy(expr("unix_millis(value) % 1"), session_window(col("value"), "5 seconds")).count()
      intercept[AnalysisException](running(sessions, "update")(_ => ())).getMessage
    }
    for (df <- Seq(lagging(stream), stream.toDF().withWatermark("value", "10 seconds")))
      assert(refused(df).contains("session window"))
  }

  test("dropDuplicates and dropDuplicatesWithinWatermark forget, in append and update mode") {
    for (within <- Seq(false, true); mode <- Seq("append", "update")) {
      clock.set(Start)
      val input = stream
      val df = lagging(input)
      val once = if (within) df.dropDuplicatesWithinWatermark("value") else df.dropDuplicates("value")
      running(once, mode) { it =>
        it.reads(input, 1, 1, 2)
        assert(it.rows.size === 2)
        assert(it.kept === 2)
        it.comesTo(if (within) 22 else 12)
        assert(it.kept === 0, s"within = $within, $mode")
      }
    }
  }

  test("a group's event-time timeout is over") {
    val input = stream
    val session = spark
    import session.implicits.{newLongEncoder, newStringEncoder}
    val groups = lagging(input).as[Timestamp].groupByKey(_ => "all").flatMapGroupsWithState(
      OutputMode.Append,
      GroupStateTimeout.EventTimeTimeout
    )(SystemTimeOperatorsSuite.fiveSeconds _)
    running(groups.toDF()) { it =>
      it.reads(input, 1)
      it.comesTo(15)
      assert(it.rows === Nil)
      it.comesTo(17)
      assert(it.rows === Seq(Seq("all over")))
    }
  }

  test("a timer of transformWithState expires, which Spark does not count among what it keeps") {
    withSettings(rocksDb) {
      val input = stream
      val session = spark
      import session.implicits.newStringEncoder
      val groups = lagging(input).as[Timestamp].groupByKey(_ => "all")
        .transformWithState(
          new SystemTimeOperatorsSuite.FiveSeconds,
          TimeMode.EventTime(),
          OutputMode.Append()
        )
      running(groups.toDF()) { it =>
        it.reads(input, 1)
        assert(it.kept === 0)
        it.comesTo(15)
        assert(it.rows === Nil)
        it.comesTo(17)
        assert(it.rows === Seq(Seq("all over")))
      }
    }
  }

  test("an aggregation of an aggregation closes") {
    val input = stream
    val twice = lagging(input).groupBy(window(col("value"), "5 seconds")).count()
      .groupBy(window(
        window_time(col("window")),
        "10 seconds"
      )).agg(sum("count")).select(seconds("window.end"), col("sum(count)"))
    running(twice) { it =>
      it.reads(input, 1, 6)
      it.comesTo(20)
      it.comesTo(21)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }

  test("with one watermark for all operators, as in old versions of Spark") {
    withSettings("spark.sql.streaming.statefulOperator.allowMultiple" -> "false") {
      val input = stream
      running(windows(lagging(input))) { it =>
        it.reads(input, 1)
        it.comesTo(5)
        it.comesTo(20)
        assert(it.rows === Seq(Seq(10.0, 1)))
      }
    }
  }

  test("in a plan that reads one column only") {
    val input = stream
    val df = input.toDF().selectExpr("value", "'a' as key", "'b' as unused").withSystemTimeWatermark(
      "value",
      "10 seconds"
    )
    running(df.groupBy(window(col("value"), "10 seconds"), col("key")).count().select("count")) { it =>
      it.reads(input, 1)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(1)))
    }
  }
}

object SystemTimeOperatorsSuite {

  /** Keeps a timer and nothing else. */
  private final class FiveSeconds extends StatefulProcessor[String, Timestamp, String] {
    override def init(mode: OutputMode, time: TimeMode): Unit = ()

    override def handleInputRows(
        key: String,
        times: Iterator[Timestamp],
        timers: TimerValues
    ): Iterator[String] = {
      getHandle.registerTimer(times.map(_.getTime).max + 5000)
      Iterator.empty
    }

    override def handleExpiredTimer(
        key: String,
        timers: TimerValues,
        expired: ExpiredTimerInfo
    ): Iterator[String] = Iterator(s"$key over")
  }

  def fiveSeconds(
      key: String,
      times: Iterator[Timestamp],
      state: GroupState[Long]
  ): Iterator[String] =
    if (state.hasTimedOut) {
      state.remove()
      Iterator(s"$key over")
    } else {
      val newest = times.map(_.getTime).max
      state.update(newest)
      state.setTimeoutTimestamp(newest + 5000)
      Iterator.empty
    }
}
