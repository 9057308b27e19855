package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streaming.Trigger

/** A watermark that trails the clock. The lag is 10 s and windows have 10 s unless a test says otherwise. */
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

  /** A union of an input with an ordinary watermark and one with a system-time watermark. */
  private def besideOrdinary(policy: String)(body: Running => Unit): Unit =
    withSettings("spark.sql.streaming.multipleWatermarkPolicy" -> policy) {
      val (ordinary, system) = (stream, stream)
      val both = ordinary.toDF().withWatermark("value", "10 seconds").union(lagging(system))
      running(windows(both)) { it =>
        ordinary.addData(at(25))
        it.reads(system, 3)
        it.comesTo(60)
        body(it)
      }
    }

  test("next to an ordinary watermark the policy min takes the lesser of the two") {
    besideOrdinary("min") { it =>
      assert(it.watermark === 15.0)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("next to an ordinary watermark the policy max takes the greater of the two") {
    besideOrdinary("max") { it =>
      assert(it.watermark === 50.0)
      assert(it.rows === Seq(Seq(10.0, 1), Seq(30.0, 1)))
    }
  }

  test("two of them with different lags: the longer one holds the query's watermark back") {
    val (a, b) = (stream, stream)
    running(windows(lagging(a, "5 seconds").union(lagging(b, "20 seconds")))) { it =>
      a.addData(at(1))
      it.reads(b, 2)
      it.comesTo(29)
      assert(it.rows === Nil)
      it.comesTo(30)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }

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
    )(SystemTimeWatermarkSuite.fiveSeconds _)
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

  test("after a restart with nothing new it closes what is open, once") {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.reads(input, 1, 2)
      assert(it.rows === Nil)
    }
    clock.set(Start + 20000)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 2)))
      it.comesTo(30)
      assert(it.rows.size === 1)
    }
    clock.set(Start + 40000)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Nil)
    }
  }

  test("a watermark that a run has reached is kept by the next, though its clock is behind") {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.reads(input, 41)
      it.comesTo(45)
      assert(it.watermark === 35.0)
    }
    clock.set(Start)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      it.reads(input, 21)
      assert(it.watermark === 35.0)
      assert(it.kept === 1) // the event at 21 was late
    }
  }

  test(
    "after a downtime longer than the lag the first batch takes what waited, and later ones drop it as late"
  ) {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder)(_.reads(input, 1))
    clock.set(Start + 1000000)
    input.addData(at(2))
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 2)))
      it.comesTo(1001)
      it.reads(input, 15)
      it.comesTo(1100)
      assert(it.rows.size === 1)
    }
  }

  test("a checkpoint begun without it goes on with it, and back") {
    val input = stream
    val folder = checkpoint()
    def plain = windows(input.toDF().withWatermark("value", "10 seconds"))
    running(plain, checkpoint = folder)(_.reads(input, 1))
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
    running(plain, checkpoint = folder) { it =>
      it.reads(input, 25)
      it.reads(input, 45)
      assert(it.rows === Seq(Seq(30.0, 1)))
    }
  }

  test("a batch that is replayed has the watermark that it had, and gives out the same") {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.reads(input, 1, 15)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
    // As if the query had died before it noted that the batch was done.
    val commits = Path.of(folder.get, "commits")
    val last =
      Files.list(commits).toArray.map(_.toString.split('/').last).filter(_.forall(_.isDigit)).map(_.toInt).max
    Files.delete(commits.resolve(last.toString))
    Files.deleteIfExists(commits.resolve(s".$last.crc"))
    clock.set(Start + 100000)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 1), Seq(20.0, 1)))
      val replayed = it.query.recentProgress.head
      assert(replayed.batchId === last)
      assert(replayed.eventTime.get("watermark") === "1970-01-01T00:16:50.000Z") // 10 s after the start
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

  test("with a trigger that ends when all is read it ends, and the next run closes the windows") {
    val input = stream
    val folder = checkpoint()
    def once(): Seq[Seq[Any]] =
      running(windows(lagging(input)), checkpoint = folder, trigger = Trigger.AvailableNow()) { it =>
        assert(it.query.awaitTermination(60000))
        it.rows
      }
    input.addData(at(1))
    assert(once() === Nil)
    clock.set(Start + 20000)
    input.addData(at(21))
    assert(once() === Seq(Seq(10.0, 1)))
  }

  test("surfaces show its kind, its lag, and where it stands by the clock") {
    val input = stream
    val df = windows(lagging(input).withE2ELatency("source"))
    running(df) { it =>
      it.reads(input, -3)
      it.comesTo(7)
      val shown = latencyOf(it.query.name).get("queries").get(0).get("lastBatch").get("watermarks").get(0)
      assert(shown.get("kind").asText === "system-time")
      assert(shown.get("delay").asLong === 10000)
      assert(shown.get("watermark").asLong === Start - 3000)
      assert(shown.get("holdsBack").asBoolean)
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

  test("a batch query has none") {
    val df = spark.range(1).selectExpr("timestamp_seconds(id) as value")
    assert(df.withSystemTimeWatermark("value", "10 seconds") eq df)
  }

  test("as a hint") {
    val input = stream
    input.toDF().createOrReplaceTempView("hinted")
    val df: DataFrame = spark.sql("SELECT /*+ SYSTEM_TIME_WATERMARK('value', '10 seconds') */ * FROM hinted")
    running(windows(df)) { it =>
      it.reads(input, 1)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }
}

object SystemTimeWatermarkSuite {
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
