package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode

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

  test("dropDuplicates and dropDuplicatesWithinWatermark forget") {
    for (within <- Seq(false, true)) {
      val input = stream
      val df = lagging(input)
      running(if (within) df.dropDuplicatesWithinWatermark("value") else df.dropDuplicates("value")) { it =>
        it.reads(input, 1, 1, 2)
        assert(it.rows.size === 2)
        assert(it.kept === 2)
        it.comesTo(if (within) 22 else 12)
        assert(it.kept === 0, s"within = $within")
      }
    }
  }

  test("a group's event-time timeout is over") {
    val input = stream
    val session = spark
    import session.implicits.{newLongEncoder, newStringEncoder}
    val groups = lagging(input).as[java.sql.Timestamp].groupByKey(_ => "all").flatMapGroupsWithState(
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

  test("a self-join has it twice") {
    val input = stream
    val df = lagging(input)
    val joined = df.select(col("value").as("l")).join(df.select(col("value").as("r")), expr("l = r"))
    running(joined.select(seconds("l"))) { it =>
      it.reads(input, 1)
      assert(it.rows === Seq(Seq(1.0)))
      it.comesTo(12)
      assert(it.kept === 0)
    }
  }
}

object SystemTimeOperatorsSuite {
  def fiveSeconds(
      key: String,
      times: Iterator[java.sql.Timestamp],
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
