package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import io.sparklatency.answer.Parts
import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import io.sparklatency.time.WallClock
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.struct
import org.apache.spark.sql.functions.to_json
import org.apache.spark.sql.functions.window

/** Real-time mode: figures, the way of records and its parts are there while a batch runs for minutes. */
class RealTimeModeSuite extends LongTasksTest {

  test("in real-time mode figures are there before the first batch has ended") {
    val input = LowLatencyMemoryStream[Timestamp](spark, 2)
    val marked = input.toDF().withE2ELatency("node", "value")
    val query = startInRealTime(marked, "real_time")
    try {
      input.addData(ago(1, 2))
      eventually(assert(figures("node", "real_time") === Some((2, Some(1), Some(2)))))
      input.addData(ago(7))
      eventually(assert(figures("node", "real_time") === Some((3, Some(1), Some(7)))))
      assert(query.lastProgress === null)
      assert(gauges("query.real_time.node.node.record-e2e-latency-max") === 7.0)
    } finally query.stop()
  }

  test("in real-time mode a batch hangs that goes on for half a minute longer than it is set to") {
    val input = LowLatencyMemoryStream[Timestamp](spark, 2)
    val marked = input.toDF().withE2ELatency("node", "value")
    byTheWall {
      val beforeStart = System.currentTimeMillis
      val query = startInRealTime(marked, "overdue")
      def progress = answerOf("overdue").get("progress")
      def after(minutes: Double, since: Long): Boolean = {
        WallClock.install(new Shifted(since + (minutes * 60000).toLong - System.currentTimeMillis))
        progress.get("stalled").asBoolean && !progress.get("running").isNull
      }
      try {
        input.addData(ago(7))
        eventually(assert(figures("node", "overdue").nonEmpty))
        // However long this machine took until now: the batch began between the two.
        assert(!after(9.5, beforeStart))
        assert(progress.get("running").isNull)
        assert(after(10.5, System.currentTimeMillis))
        assert(progress.get("batchDuration").isNull)
      } finally query.stop()
    }
  }

  test("in real-time mode the way of records and their parts are there before the first batch has ended") {
    val input = LowLatencyMemoryStream[Timestamp](spark, 2)
    val read = input.toDF().withE2ELatency("read", "value")
    val scored = read.withColumn("score", slow(60)(lit(1L))).withE2ELatency("scored", "value")
    val query = startInRealTime(scored, "way")
    def way = answerOf("way")
    try {
      input.addData(ago(7))
      eventually(assert(way.get("nodes").elements.asScala.map(_.get("records").asLong).toSeq === Seq(1, 1)))
      assert(query.lastProgress === null)
      assert(way.get("parts").get("text").asText ===
        "source queuing 7 ms, work at scored 60 ms: 67 ms on average within the last 1 min")
      assert(ages("way") === Map("age-source-queuing" -> 7.0, "age-work" -> 60.0))
      assert(way.get("headline").get("text").asText ===
        "Slowest step: scored, 60 ms of 67 ms (90 %). Make that faster, or give it more cores.")
      assert(way.get("notes").elements.asScala.map(_.get("code").asText).toSeq === Seq("no-commit"))
      assert(waysOf("way") === Seq("read" -> Nil, "scored" -> Seq("read")))
    } finally query.stop()
  }

  /** The gauges of the parts that are known. */
  private def ages(query: String): Map[String, Double] = Parts.metrics.map(_.name).flatMap(name =>
    Some(gauges(s"query.$query.$name").asInstanceOf[Double]).filterNot(_.isNaN).map(name -> _)
  ).toMap

  for (mode <- Seq("FALLBACK", "CODEGEN_ONLY"))
    test(
      s"in real-time mode automatic nodes measure between operators without generated code, in mode $mode"
    ) {
      withSettings("spark.sparklatency.auto" -> "terminal", "spark.sql.codegen.factoryMode" -> mode) {
        val input = LowLatencyMemoryStream[Timestamp](spark, 2)
        val query =
          startInRealTime(input.toDF().withWatermark("value", "10 seconds"), s"real_time_auto_$mode")
        try {
          input.addData(ago(1, 2))
          eventually(assert(figures("sink", query.name) === Some((2, Some(1), Some(2)))))
        } finally query.stop()
      }
    }

  test("in real-time mode an aggregation is as old as its window though only a text is made of that") {
    assume(spark.version >= "4.3", "real-time mode keeps no state there")
    val settings = Seq(
      "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1s",
      "spark.sql.shuffle.partitions" -> "1" // with the source's one all tasks run at once
    )
    withSettings(everything ++ settings: _*) {
      val input = LowLatencyMemoryStream[Timestamp](spark, 1)
      val counts =
        input.toDF().withWatermark("value", "10 seconds").groupBy(window(col("value"), "1 minute")).count()
      val query = counts.select(to_json(struct("*")).as("value")).writeStream.queryName("real_time_texts")
        .outputMode("update").foreach(Drop).trigger(Lines.realTime("3 seconds")).start()
      try {
        input.addData(ago(5)) // of a window that ends in twenty seconds
        eventually {
          val found = Seq("aggregate-1", "sink").map(figures(_, "real_time_texts"))
          assert(found === Seq.fill(2)(Some((1, Some(-20000), Some(-20000)))))
        }
      } finally query.stop()
    }
  }

  test("in real-time mode an aggregation is a node, and a window that is open is no clock that differs") {
    assume(spark.version >= "4.3", "real-time mode keeps no state there")
    withSettings(
      "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1s",
      "spark.sql.shuffle.partitions" -> "1", // with the source's one all tasks run at once
      "spark.sparklatency.auto" -> "source,terminal,stateful",
      "spark.sparklatency.recording.level" -> "TRACE"
    ) {
      val input = LowLatencyMemoryStream[Timestamp](spark, 1)
      val counts =
        input.toDF().withWatermark("value", "10 seconds").groupBy(window(col("value"), "1 minute")).count()
      val query = counts.writeStream.queryName("real_time_windows").outputMode("update").foreach(Drop)
        .trigger(Lines.realTime("3 seconds")).start()
      def shown = answerOf("real_time_windows")
      try {
        input.addData(ago(5))
        eventually(assert(query.lastProgress != null && query.lastProgress.batchId >= 1))
        val nodes = shown.get("nodes").elements.asScala.map(node => node.get("node").asText -> node).toMap
        assert(nodes("aggregate-1").get("records").asLong === 1, shown)
        assert(nodes("sink").get("aheadOfClock").asLong === 1, shown)
        val ahead = shown.get("notes").elements.asScala.filter(_.get("code").asText == "ahead-of-clock")
        assert(ahead.map(_.get("level").asText).toSet === Set("info"), shown)
      } finally query.stop()
    }
  }

  test("what was shown while a batch ran counts once when it has ended") {
    withSettings("spark.sql.streaming.realTimeMode.minBatchDuration" -> "1s") {
      val input = LowLatencyMemoryStream[Timestamp](spark, 2)
      val marked = input.toDF().withE2ELatency("node", "value")
      val query = marked.writeStream.queryName("real_time_batches").outputMode("update").foreach(Drop)
        .trigger(Lines.realTime("3 seconds")).start()
      try {
        input.addData(ago(1, 2, 3))
        eventually(assert(figures("node", "real_time_batches").exists(_._1 == 3)))
        eventually(assert(query.lastProgress != null && query.lastProgress.batchId >= 1))
        assert(figures("node", "real_time_batches") === Some((3, Some(1), Some(3))))
        assert(
          node("node", "real_time_batches").measure("commit") === None,
          "results could be seen before the end of the batch"
        )
        input.addData(ago(4))
        eventually(assert(figures("node", "real_time_batches") === Some((4, Some(1), Some(4)))))
      } finally query.stop()
    }
  }
}
