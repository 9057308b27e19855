package io.sparklatency.spark

import java.sql.Timestamp

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.GroupState
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode

/** Where late begins: an operator drops what is as old as its watermark, too. And which operators drop nothing. */
class LatenessSuite extends StreamingTest {

  private val interpreted =
    Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")

  for ((mode, settings) <- Seq("by generated code" -> Nil, "by the interpreter" -> interpreted))
    test(s"a record as old as the watermark is late by nothing, $mode") {
      withSettings(everything ++ settings: _*) {
        val input = stream
        val counted = input.toDF().withWatermark("value", "0 seconds").groupBy("value").count()
        val query = start(counted, s"late $mode", "update")
        try {
          for (ms <- Seq(5, 4, 5, 6)) {
            input.addData(new Timestamp(Start + ms))
            processAll(query)
          }
          val late = node("aggregate-1", query.name).measure("lateness").get
          assert((late.records, late.min, late.avg, late.max) === ((2, Some(0), Some(0.5), Some(1))))
        } finally query.stop()
      }
    }

  /** How many of two late records an operator is said to drop, and how many Spark says it drops. */
  private def dropped(operator: String, mode: String)(shape: DataFrame => DataFrame): (Long, Long) = {
    val input = stream
    val query = start(shape(watermarked(input)), freshNode(), mode)
    try {
      // By the watermark of the batch before.
      for (ms <- Seq(30000, 30001)) {
        input.addData(new Timestamp(Start + ms))
        processAll(query)
      }
      input.addData(ago(100, 5000))
      processAll(query)
      val told = node(operator, query.name).measure("lateness").fold(0L)(_.records)
      told -> query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum
    } finally query.stop()
  }

  private def inWindows(df: DataFrame): DataFrame =
    df.groupBy(window(col("value"), "1 second")).agg(max("value").as("last"))

  private def inSessions(df: DataFrame): DataFrame =
    df.groupBy(col("value").cast("long") % 2, session_window(col("value"), "1 second")).agg(max("value"))

  test(
    "what an aggregation takes in late in complete mode is not said to be dropped, and what sessions drop is"
  ) {
    withSettings(everything: _*) {
      val windows = Seq("update", "append", "complete").map(dropped("aggregate-1", _)(inWindows))
      assert(windows === Seq((2, 2), (2, 2), (0, 0)))
      val sessions = Seq("append", "complete").map(dropped("session-window-1", _)(inSessions))
      assert(sessions === Seq((2, 2), (2, 2)))
    }
  }

  test("what a function takes in late that has no timeouts of event time is not said to be dropped") {
    implicit val state: Encoder[Int] = Encoders.scalaInt
    def passed(timeout: GroupStateTimeout)(df: DataFrame): DataFrame =
      df.select(col("value")).as[Timestamp].groupByKey(at => at).flatMapGroupsWithState(
        OutputMode.Append,
        timeout
      )((_: Timestamp, rows: Iterator[Timestamp], _: GroupState[Int]) => rows).toDF()
    // Where a function goes by the clock Spark would run a batch at each trigger.
    withSettings(everything :+ "spark.sql.streaming.noDataMicroBatches.enabled" -> "false": _*) {
      for (
        (timeout, drops) <- Seq(
          GroupStateTimeout.EventTimeTimeout -> 2,
          GroupStateTimeout.ProcessingTimeTimeout -> 0,
          GroupStateTimeout.NoTimeout -> 0
        )
      ) assert(
        dropped("flat-map-groups-with-state-1", "append")(passed(timeout)) === ((drops, drops)),
        timeout
      )
    }
  }
}
