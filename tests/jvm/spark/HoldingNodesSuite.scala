package org.apache.spark.sql.latency

import java.sql.Timestamp

import io.sparklatency.figures.Held
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.Column
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.util.JsonProtocol

/**
 * Which nodes stand behind an operator that may hold records, how long its windows are, and the gaps of its sessions. In Spark's
 * package for what only ours may call.
 */
class HoldingNodesSuite extends StreamingTest {

  /** Of each node of a query that has run one batch, as its event has it. */
  private def held(
      name: String,
      mode: String = "append"
  )(plan: DataFrame => DataFrame): Map[String, Held] = {
    val input = stream
    val query = start(plan(marked(input)), name, mode)
    try {
      input.addData(ago(5))
      processAll(query)
      val store = LatencyApplication.running(spark.sparkContext).settledStore()
      val batches = store.history(store.query(name).get)
      val written =
        batches.map(batch => JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(batch)))
      val read =
        written.map(JsonProtocol.sparkEventFromJson(_).asInstanceOf[SparkListenerLatencyBatch].record)
      assert(read.map(_.nodes.map(_.held)) === batches.map(_.nodes.map(_.held)))
      read.flatMap(_.nodes).flatMap(node => node.held.map(node.id -> _)).toMap
    } finally query.stop()
  }

  private def ofWindows(ms: Long): Held = Held(windowMs = Some(ms))
  private def ofSessions(ms: Long): Held = Held(gapMs = Some(ms))

  private def counted(df: DataFrame, by: Column): DataFrame =
    df.groupBy(by.as("in")).agg(max("value").as("last"))

  private def out(df: DataFrame): DataFrame = df.withE2ELatency("out", "last")

  test("a window that tumbles, and one that slides") {
    assert(
      held("tumbling")(df => out(counted(df, window(col("value"), "1 minute")))) === Map(
        "out" -> ofWindows(60000)
      )
    )
    assert(held("sliding")(df => out(counted(df, window(col("value"), "90 seconds", "30 seconds")))) ===
      Map("out" -> ofWindows(90000)))
  }

  test("a window that is made before other work, and one whose results others pass on") {
    val before = held("made_before") { df =>
      val windows = df.withColumn("in", window(col("value"), "1 minute"))
      out(windows.withColumn(
        "each",
        explode(array(lit(1), lit(2)))
      ).groupBy("in").agg(max("value").as("last")))
    }
    assert(before === Map("out" -> ofWindows(60000)))
    val passed = held("passed_on") { df =>
      out(counted(df, window(col("value"), "1 minute")).dropDuplicates("in"))
    }
    assert(passed === Map("out" -> ofWindows(60000)))
  }

  test("of two windows each node has its own, and what stands behind a node is no longer held") {
    val found = held("two_windows") { df =>
      val first = df.groupBy(window(col("value"), "10 seconds").as("in")).agg(max("value").as("last"))
        .withE2ELatency("first", "last")
      val second = first.groupBy(window(window_time(col("in")), "1 hour")).agg(max("last").as("last"))
      second.withE2ELatency("second", "last").withColumn("work", lit(1)).withE2ELatency("behind", "last")
    }
    assert(found === Map("first" -> ofWindows(10000), "second" -> ofWindows(3600000)))
  }

  test("automatic nodes know it, without generated code, too") {
    for (compiled <- Seq(true, false))
      withSettings(everything :+ "spark.sql.codegen.wholeStage" -> compiled.toString: _*) {
        val found = held(s"automatic_$compiled")(counted(_, window(col("value"), "2 minutes")))
        assert(found === Map("aggregate-1" -> ofWindows(120000)))
      }
  }

  /** What comes of sessions with such a gap. */
  private def heldInSessions(name: String, gap: Column): Map[String, Held] = held(name) { df =>
    out(df.groupBy(session_window(col("value"), gap), col("value").cast("long") % 2).agg(
      max("value").as("last")
    ))
  }

  test("a session has its gap, unless that is another one for each record") {
    assert(heldInSessions("sessions", lit("5 seconds")) === Map("out" -> ofSessions(5000)))
    assert(heldInSessions("sessions_by_interval", expr("make_interval(0, 0, 0, 0, 0, 1, 30)")) ===
      Map("out" -> ofSessions(90000)))
    for (
      (name, gap) <- Seq(
        "text" -> when(second(col("value")) > 30, "5 seconds").otherwise("1 minute"),
        "interval" -> expr("make_interval(0, 0, 0, 0, 0, 0, 1 + second(value))")
      )
    ) assert(heldInSessions(s"sessions_by_$name", gap) === Map("out" -> Held()))
  }

  test("what else decides when records leave has no length") {
    assert(held("by_value")(df => out(counted(df, col("value")))) === Map("out" -> Held()))
    assert(held("not_by_its_window") { df =>
      out(df.withColumn("in", window(col("value"), "1 minute")).groupBy("value").agg(
        max("in").as("newest"),
        max("value").as("last")
      ))
    } === Map("out" -> Held()))
    assert(held("joined")(joined("inner")) === Map("out" -> Held(until = Held.Match)))
    assert(held("joined_or_not")(joined("left_outer")) === Map("out" -> Held(until = Held.MatchOrWatermark)))
  }

  test("behind a join by a range of time the watermark passes later by so much") {
    val found = held("joined_by_range") { df =>
      val right = stream
      right.addData(ago(5)) // so that the watermark moves
      val other = right.toDF().withWatermark("value", "10 seconds").toDF("other")
      val inRange = "other BETWEEN value AND value + INTERVAL 5 MINUTES"
      val joined = df.join(other, expr(s"unix_seconds(value) * 0 = unix_seconds(other) * 0 AND $inRange"))
      out(counted(joined, window(col("value"), "1 minute")))
    }
    assert(found.get("out").map(_.copy(laterMs = 0)) === Some(ofWindows(60000)))
    assert((found("out").laterMs - 300000).abs <= 1)
  }

  private def joined(kind: String)(df: DataFrame): DataFrame = {
    val other = stream.toDF().withWatermark("value", "10 seconds").toDF("other")
    out(df.join(other, expr("value = other"), kind).select(col("value").as("last")))
  }

  test(
    "a function with state of its own gives out records when it will, and by the watermark where it goes by event time"
  ) {
    def kept(timeout: GroupStateTimeout)(df: DataFrame): DataFrame = {
      implicit val state: Encoder[Int] = Encoders.scalaInt
      val kept = df.select(col("value")).as[Timestamp]
        .groupByKey(end => end).flatMapGroupsWithState(OutputMode.Append, timeout)(
          (_: Timestamp, rows: Iterator[Timestamp], _: GroupState[Int]) => rows
        )
      out(kept.toDF("last"))
    }
    // Where a function goes by the clock Spark would run a batch at each trigger.
    withSettings("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      for (
        (name, timeout, until) <- Seq(
          ("no_timeout", GroupStateTimeout.NoTimeout, Held.Function),
          ("by_the_clock", GroupStateTimeout.ProcessingTimeTimeout, Held.Function),
          ("by_event_time", GroupStateTimeout.EventTimeTimeout, Held.FunctionOrWatermark)
        )
      ) assert(held(name)(kept(timeout)) === Map("out" -> Held(until = until)), name)
    }
  }

  test("in update and complete mode each batch gives out what there is so far") {
    for (mode <- Seq("update", "complete"))
      assert(held(s"so_far_$mode", mode)(df => out(counted(df, window(col("value"), "1 minute")))) ===
        Map("out" -> ofWindows(60000).copy(eachBatch = true)))
    val sessions = held("sessions_so_far", "complete") { df =>
      out(df.groupBy(
        session_window(col("value"), "5 seconds"),
        col("value").cast("long") % 2
      ).agg(max("value").as("last")))
    }
    assert(sessions === Map("out" -> ofSessions(5000).copy(eachBatch = true)))
  }

  test("where nothing is held no node stands behind it") {
    def windows(df: DataFrame) = df.withColumn("in", window(col("value"), "1 minute"))
    assert(held("no_state")(df => windows(df).withE2ELatency("out", "value")) === Map.empty)
    assert(held("duplicates")(_.dropDuplicates("value").withE2ELatency("out", "value")) === Map.empty)
  }
}
