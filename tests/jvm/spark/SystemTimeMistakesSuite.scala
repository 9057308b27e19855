package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.struct
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.Trigger

/** What a system-time watermark says to bad input. */
class SystemTimeMistakesSuite extends SystemTimeTest {
  private def lag(text: String): String = refused(stream.toDF().withSystemTimeWatermark("value", text))

  test("a lag that is no interval, is negative, or is longer than a year") {
    val end = "; give one such as '10 seconds'"
    assert(lag("soon") === s"the lag 'soon' of a system-time watermark is not an interval$end")
    assert(lag("") === s"the lag '' of a system-time watermark is not an interval$end")
    assert(lag(null) === s"the lag 'null' of a system-time watermark is not an interval$end")
    assert(lag("-1 second") ===
      s"the lag '-1 second' of a system-time watermark is negative: a watermark cannot be ahead of the clock$end")
    assert(lag("10000 days") ===
      s"the lag '10000 days' of a system-time watermark is longer than a year: no window would close before$end")
    assert(lag("x" * 1000).length < 300)
  }

  test("a column that is not there, is of another type, or lies within a struct") {
    val df = stream.toDF()
      .selectExpr(
        "value",
        "string(value) as text",
        "named_struct('inner', value) as outer",
        "unix_millis(value) as ms"
      )
    def column(name: String): String = refused(df.withSystemTimeWatermark(name, "10 seconds"))
    assert(column("valu") ===
      "system-time watermark: the column 'valu' is not there; the columns are 'value', 'text', 'outer', 'ms'")
    assert(column("text") ===
      "system-time watermark: the column 'text' is of type STRING; a watermark needs a TIMESTAMP or a window: " +
      "to_timestamp makes one of a text")
    // A cast would take milliseconds for seconds.
    assert(column("ms").endsWith(
      "; a watermark needs a TIMESTAMP or a window: timestamp_millis makes one of a number of " +
        "milliseconds, timestamp_seconds of a number of seconds"
    ))
    assert(
      column("outer.inner") ===
        "system-time watermark: the column 'outer.inner' lies within a struct; make it a column of its own first"
    )
    assert(column(
      "`value"
    ) === "system-time watermark: the column '`value' cannot be told from others, or is not well quoted; " +
      "the columns are 'value', 'text', 'outer', 'ms'")
    assert(column(null).contains("needs the name of a column"))
  }

  test("a column whose name has a dot is to be put in backticks") {
    val df = stream.toDF().selectExpr("value", "value as `a.b`", "string(value) as text", "value as `text.x`")
      .withColumn("Outer.s", struct(col("value").as("inner")))
    def column(name: String): String = refused(df.withSystemTimeWatermark(name, "10 seconds"))
    for ((name, quoted) <- Seq("a.b" -> "a.b", "A.B" -> "a.b", "text.x" -> "text.x"))
      assert(column(name) ===
        s"system-time watermark: the column '$name' has a dot in its name; write it in backticks: `$quoted`")
    assert(column(
      "outer.s.inner"
    ) === "system-time watermark: the column 'outer.s.inner' has a dot in its name; " +
      "write it in backticks: `Outer.s`.inner")
    assert(column("a.b.c") === "system-time watermark: the column 'a.b.c' has a dot in its name; " +
      "write it in backticks: `a.b`.c")
    assert(column("a.c").contains("the column 'a.c' is not there; the columns are "))
    assert(df.withSystemTimeWatermark("`a.b`", "10 seconds").columns.length === 5)
  }

  test("a second watermark on one path") {
    val once = lagging(stream)
    val message =
      "system-time watermark: the column 'value' would be the second watermark on this path: there is one on 'value'; " +
        "leave one of them out; inputs of a join or union can each have their own, before they meet"
    assert(refused(once.withSystemTimeWatermark("value", "1 second")) === message)
    assert(refused(stream.toDF().withWatermark(
      "value",
      "1 second"
    ).withSystemTimeWatermark("value", "1 second")) === message)
  }

  test("a bad hint") {
    stream.toDF().createOrReplaceTempView("bad_hint")
    assert(refused(spark.sql("SELECT /*+ SYSTEM_TIME_WATERMARK('value') */ * FROM bad_hint")) ===
      "SYSTEM_TIME_WATERMARK('value'): the name of a column and a lag are expected; " +
      "use SYSTEM_TIME_WATERMARK('event_time', '10 seconds')")
  }

  private val long = "x" * 1000000

  private def wide: DataFrame =
    stream.toDF().select((0 until 2000).map(i => col("value").as(s"event_$i")): _*)

  for (
    (what, mistake) <- Seq[(String, () => Any)](
      "a lag" -> (() => lagging(stream, long)),
      "a column" -> (() => stream.toDF().withSystemTimeWatermark(long, "10 seconds")),
      "a column that is not well quoted" -> (() =>
        stream.toDF().withSystemTimeWatermark(s"`$long", "10 seconds")
      ),
      "a column within a struct" -> (() =>
        stream.toDF().select(struct(col("value").as(long)).as("outer"))
          .withSystemTimeWatermark(s"outer.$long", "10 seconds")
      ),
      "a column of another type" -> (() =>
        stream.toDF().select(lit(1).as(long)).withSystemTimeWatermark(long, "10 seconds")
      ),
      "a column that is not among 2,000" -> (() => wide.withSystemTimeWatermark("event_77x", "10 seconds")),
      "a second watermark" -> (() =>
        stream.toDF().toDF(long).withWatermark(long, "1 second").withSystemTimeWatermark(long, "10 seconds")
      ),
      "a hint of many parameters" -> (() =>
        stream.toDF().hint("SYSTEM_TIME_WATERMARK", Seq.fill(10000)(long.take(100)): _*)
      ),
      "an idle timeout" -> (() => watermarked(stream).withIdleTimeout(long)),
      "an idle timeout of a million digits" -> (() => watermarked(stream).withIdleTimeout("9" * 1000000)),
      "an idle timeout of what goes by the clock" -> (() =>
        stream.toDF().toDF(long).withSystemTimeWatermark(long, "10 seconds").withIdleTimeout("1 second")
      ),
      "a hint of an idle timeout, with many parameters" -> (() =>
        watermarked(stream).hint("IDLE_TIMEOUT", Seq.fill(10000)(long.take(100)): _*)
      )
    )
  )
    test(s"what is said of it is short: $what") {
      val text = refused(mistake())
      assert(text.length <= 1500 && !text.contains("\n"), text.take(3000))
    }

  test("a query that keeps no state is told so") {
    val input = stream
    val told = Logged.during(running(lagging(input))(_.reads(input, 1)))
    assert(told.exists(_.contains("keeps no state, so there is nothing that the watermark could close")))
  }

  test("a setting and a trigger that keep it from closing windows are told") {
    val input = stream
    withSettings("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      val told = Logged.during(running(windows(lagging(input)))(_.reads(input, 1)))
      assert(told.exists(
        _.contains("noDataMicroBatches.enabled=false windows close only when a record arrives")
      ))
    }
    val told = Logged.during(running(
      windows(lagging(input)),
      trigger = Trigger.AvailableNow()
    )(_.query.awaitTermination()))
    assert(told.exists(_.contains("its trigger ends when all is read")))
    assert(!Logged.during(running(windows(lagging(input)))(_.reads(
      input,
      1
    ))).exists(_.contains("system-time")))
  }

  test("Hazelcast C7: an interval of 0 is none: an error at the call, and when a query starts") {
    val input = stream
    val before = windows(lagging(input))
    for (bad <- Seq("0", "soon"))
      withSettings("spark.sparklatency.watermark.interval" -> bad) {
        val message =
          s"spark.sparklatency.watermark.interval=$bad is not valid: a duration from 1ms to 366d such as 1s or 500ms is allowed"
        assert(refused(lagging(input)) === message)
        assert(refused(running(before)(_ => ())) === message)
      }
    withSettings("spark.sparklatency.watermark.interval" -> "5 seconds") {
      running(windows(lagging(input))) { it =>
        it.reads(input, 1)
        it.comesTo(50)
        assert(it.rows === Seq(Seq(10.0, 1)))
      }
    }
  }

  test(
    "where we cannot get between a query and its trigger only batches move the watermark, and the log says so"
  ) {
    val key = "spark.sparklatency.watermark.interval"
    val hinders = new StreamingQueryListener {
      override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit =
        spark.conf.set(key, "soon")
      override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit = ()
      override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit = ()
    }
    // Listeners hear of a query in the order in which they came: ours is to be the later one.
    val ours = spark.streams.listListeners().filter(_.getClass.getSimpleName == "SystemTimeQueries")
    ours.foreach(spark.streams.removeListener)
    spark.streams.addListener(hinders)
    try {
      val input = stream
      val told = Logged.during(running(windows(lagging(input))) { it =>
        it.reads(input, 1)
        it.comesTo(50)
        assert(it.rows === Nil)
        it.reads(input, 45)
        assert(it.rows === Seq(Seq(10.0, 1)))
      })
      assert(told.exists(_.contains("move only while records arrive")))
    } finally {
      spark.streams.removeListener(hinders)
      spark.conf.unset(key)
    }
  }

  test("what the log warns of is a note, too") {
    def noted(df: DataFrame, trigger: Trigger = Trigger.ProcessingTime(0)): Seq[(String, String)] =
      running(df.withE2ELatency("source"), trigger = trigger) { it =>
        processAll(it.query)
        val notes = queryOf(it.query.name).get("notes").elements.asScala.toSeq
        notes.filter(_.get("code").asText == "system-time-watermark")
          .map(note => note.get("level").asText -> note.get("text").asText)
      }
    assert(noted(lagging(stream)) === Seq(
      "warn" ->
        "It has a system-time watermark and keeps no state, so there is nothing that the watermark could close; leave it out."
    ))
    assert(noted(lagging(stream).dropDuplicates("value")) === Nil)
    assert(noted(lagging(stream).dropDuplicates("value"), Trigger.AvailableNow()).map(_._2) === Seq(
      "Its trigger ends when all is read, so its system-time watermark stands at the start of the run; what waits for a second batch " +
        "of the run, and is older than the lag, is dropped as late."
    ))
    withSettings("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      assert(noted(lagging(stream).dropDuplicates("value")).map(_._2) === Seq(
        "With spark.sql.streaming.noDataMicroBatches.enabled=false windows close only when a record arrives, in spite of the " +
          "system-time watermark."
      ))
    }
  }

  test("an ordinary watermark above one is Spark's to refuse, in the first batch") {
    val input = stream
    val twice = lagging(input).withWatermark("value", "1 second")
    val refusal = intercept[Exception](running(windows(twice))(_.reads(input, 1)))
    assert(refusal.getMessage.contains("Redefining watermark is disallowed"))
  }

  test("continuous mode refuses it when the query is started, and the message has a remedy") {
    val df = spark.readStream.format("rate").load().withSystemTimeWatermark("timestamp", "1 second")
    assert(refused(df.writeStream.format("noop").trigger(Trigger.Continuous("1 second")).start()) ===
      "a system-time watermark does not work in continuous mode, where Spark allows no watermark; use another trigger, such as " +
      "processingTime, or leave the watermark out")
  }

  test("real-time mode ends the query, and says what to use instead") {
    val input = LowLatencyMemoryStream[Timestamp](spark, 2)
    val failed = intercept[StreamingQueryException] {
      val query =
        startInRealTime(input.toDF().withSystemTimeWatermark("value", "1 second"), "system_time_in_real_time")
      try query.awaitTermination()
      finally query.stop()
    }
    assert(failed.getMessage.contains("a system-time watermark does not work in real-time mode"))
  }
}
