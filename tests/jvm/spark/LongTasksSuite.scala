package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.CountDownLatch

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.answer.Parts
import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import io.sparklatency.time.WallClock
import org.apache.spark.sql.ForeachWriter
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.latency.BrokenChannel
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.time.Millis
import org.scalatest.time.Span

/** Tasks that run for minutes: what they record shows while they run, and counts once when they end. */
class LongTasksSuite extends StreamingTest with Patient {

  /** A minute goes by with each record; then it waits. */
  private object DropSlowly extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit = SparkTest.clock.advance(60000)
    override def close(error: Throwable): Unit = LongTasksSuite.mayEnd.await()
  }

  private def answerOf(query: String): JsonNode =
    latencyOf(null).get("queries").elements.asScala.find(_.get("query").asText == query).get

  private def figures(id: String, query: String): Option[(Long, Option[Long], Option[Long])] =
    findNode(id, query).map(_.figures)

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
      val query = startInRealTime(marked, "overdue")
      def progress = answerOf("overdue").get("progress")
      def after(minutes: Double): Boolean = {
        WallClock.install(new Shifted((minutes * 60000).toLong))
        progress.get("stalled").asBoolean && !progress.get("running").isNull
      }
      try {
        input.addData(ago(7))
        eventually(assert(figures("node", "overdue").nonEmpty))
        assert(!after(9.5))
        assert(progress.get("running").isNull)
        assert(after(10.5))
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
      val nodes = way.get("nodes").elements.asScala.toSeq
      assert(nodes.map(_.get("node").asText) === Seq("read", "scored"))
      assert(nodes.map(_.get("upstream").elements.asScala.map(_.asText).toSeq) === Seq(Nil, Seq("read")))
    } finally query.stop()
  }

  /** The gauges of the parts that are known. */
  private def ages(query: String): Map[String, Double] = Parts.metrics.map(_.name).flatMap(name =>
    Some(gauges(s"query.$query.$name").asInstanceOf[Double]).filterNot(_.isNaN).map(name -> _)
  ).toMap

  private def work(query: String, field: String): Option[JsonNode] =
    Option(answerOf(query).get(field)).filterNot(_.isNull)

  private def latencies(work: JsonNode): Map[String, Option[Double]] =
    work.get("stages").elements.asScala.flatMap(_.get("nodes").elements.asScala).map { node =>
      node.get("node").asText -> Option(node.get("latency")).filterNot(_.isNull).map(_.asDouble)
    }.toMap

  test(
    "in real-time mode windows of a second tell which operators are at work, before the first batch has ended"
  ) {
    byTheWall {
      val input = LowLatencyMemoryStream[Timestamp](spark, 2)
      val read = input.toDF().withE2ELatency("read", "value")
      val scored = read.filter(LongTasksSuite.resting(col("value"))).withE2ELatency("scored", "value")
      val query = startInRealTime(scored, "windows")
      try {
        eventually(interval(Span(200, Millis))) {
          input.addData(new Timestamp(System.currentTimeMillis()))
          val told = work("windows", "operators").get
          assert(told.get("of").asText === "window")
          assert(latencies(told)("scored").exists(_ > 100))
          assert(told.get("criticalPath").elements.asScala.map(_.asText).toSeq === Seq("read", "scored"))
          assert(told.get("stages").get(0).get("nodes").get(0).get("ewt").isNull)
        }
        assert(query.lastProgress === null)
        eventually(
          assert(!gauges("query.windows.node.scored.operator-latency-avg").asInstanceOf[Double].isNaN)
        )
        assert(answerOf(
          "windows"
        ).get("notes").elements.asScala.map(_.get("code").asText).contains("operator-windows"))
        assert(work("windows", "operatorsSoFar") === None)
      } finally query.stop()
    }
  }

  /** That a step is at work all the time, on each surface. */
  private def isBusy(query: String, node: String): Unit = {
    val answer = answerOf(query)
    val headline = answer.get("headline")
    assert(
      (headline.get("code").asText, headline.get("node").asText) === (("source-queuing", node)),
      headline.get("text")
    )
    val text = headline.get("text").asText
    assert(text.matches(
      "Records are old when they are read, .* of .* \\(\\d+ %\\)\\. A task is at work .* % of the time.* at " +
        s"$node, and records wait for it\\. Make that faster, or give it more cores\\."
    ))
    assert(answer.get("slowestStep").asText === node)
    val rows = spark.sql(s"SELECT cause, headline FROM e2e_latency() WHERE query = '$query'").collect()
    assert(rows.map(_.getString(0)).toSet === Set("source-queuing"))
    assert(rows.forall(_.getString(1).contains(s" at $node, and records wait for it. ")))
  }

  test("in real-time mode a step that is at work all the time is named where records wait to be read") {
    byTheWall {
      val input = LowLatencyMemoryStream[Timestamp](spark, 1)
      val read = input.toDF().withE2ELatency("read", "value")
      val scored = read.filter(LongTasksSuite.resting(col("value"))).withE2ELatency("scored", "value")
      val query = startInRealTime(scored, "busy")
      try {
        input.addData(Seq.fill(600)(new Timestamp(System.currentTimeMillis())): _*) // a minute of work
        eventually(interval(Span(500, Millis)))(isBusy("busy", "scored"))
        assert(query.lastProgress === null)
      } finally query.stop()
    }
  }

  test("while a batch runs, of which one node has shown more than the next, no share and no headline moves") {
    byTheWall {
      withSettings("spark.sparklatency.publish.after" -> "1s") {
        val input = stream
        val read = input.toDF().withE2ELatency("a", "value")
        val scored = read.filter(LongTasksSuite.heldIfOld(col("value"))).withE2ELatency("b", "value")
        val query = scored.writeStream.queryName("steady").foreach(Drop).start()
        def shown = {
          val answer = answerOf("steady")
          val shares = answer.get("nodes").elements.asScala.map(_.get("share").asDouble).toSeq
          (shares, answer.get("headline").get("text").asText, answer.get("parts").toString)
        }
        try {
          input.addData(new Timestamp(System.currentTimeMillis()))
          processAll(query)
          val before = shown
          assert(before._1.size === 2)
          input.addData(new Timestamp(System.currentTimeMillis() - 3600000))
          eventually(assert(figures("a", "steady").exists { case (records, _, max) =>
            records == 2 && max.exists(_ >= 3600000)
          }))
          assert(figures("b", "steady").map { case (records, _, _) => records } === Some(1))
          assert(shown === before)
        } finally {
          LongTasksSuite.mayShow.countDown()
          query.stop()
        }
      }
    }
  }

  test("a batch in progress shows what its operators did so far, and its end takes their place") {
    byTheWall {
      withSettings("spark.sparklatency.publish.after" -> "1s") {
        val input = stream
        val read = input.toDF().withE2ELatency("a", "value")
        val scored = read.filter(LongTasksSuite.held(col("value"))).withE2ELatency("b", "value")
        val query = scored.writeStream.queryName("so_far").foreach(Drop).start()
        try {
          input.addData(ago(1))
          eventually {
            val told = work("so_far", "operatorsSoFar").get
            assert((told.get("of").asText, told.get("batch").asLong) === (("so-far", 0)))
            assert(told.get("steps").get(0).get("nodes").get(0).asText === "b")
            assert(latencies(told)("b").exists(ms => ms > 300 && ms <= told.get("latency").asDouble))
          }
          assert(work("so_far", "operators") === None)
          LongTasksSuite.mayPass.countDown()
          processAll(query)
          assert(work("so_far", "operatorsSoFar") === None)
          assert(work("so_far", "operators").map(_.get("of").asText) === Some("batch"))
        } finally {
          LongTasksSuite.mayPass.countDown()
          query.stop()
        }
      }
    }
  }

  test("a batch query in progress shows what its operators did so far, and its end takes their place") {
    byTheWall {
      withSettings("spark.sparklatency.publish.after" -> "1s") {
        val rows = spark.range(0, 4, 1, 1).select(timestamp_millis(col("id")).as("value"))
        val scored = rows.withE2ELatency("a", "value").filter(LongTasksSuite.heldInBatch(col("value")))
        def lastEnded = work("__batch__", "operators").map(_.get("batch").asLong)
        val ended = Future(run(scored.withE2ELatency("b", "value")))
        try {
          val told = eventually {
            val told = work("__batch__", "operatorsSoFar").get
            assert(told.get("of").asText === "so-far")
            assert(told.get("steps").get(0).get("nodes").get(0).asText === "b")
            assert(latencies(told)("b").exists(ms => ms > 300 && ms <= told.get("latency").asDouble))
            told
          }
          val batch = told.get("batch").asLong
          assert(!lastEnded.contains(batch))
          LongTasksSuite.mayPassInBatch.countDown()
          Await.result(ended, Patience.Seconds.seconds)
          assert(work("__batch__", "operatorsSoFar") === None)
          assert(lastEnded === Some(batch))
        } finally LongTasksSuite.mayPassInBatch.countDown()
      }
    }
  }

  test(
    "the oldest record that waits is known by its timestamp, though time went by before its task told of it"
  ) {
    val input = stream
    ago(7, 2).foreach(input.addData(_))
    val marked = input.toDF().withE2ELatency("node", "value")
    val query = marked.writeStream.queryName("told_late").foreach(DropSlowly).start()
    try {
      eventually(assert(figures("node", "told_late").exists(_._1 == 2)))
      eventually(assert(answerOf("told_late").get("oldestUncommitted").asLong === 120007))
    } finally {
      LongTasksSuite.mayEnd.countDown()
      query.stop()
    }
  }

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

  test("what a task tells that began under an application which has ended is for nobody") {
    val (id, rows) = (freshNode(), spark.range(0, 6, 1, 1))
    val slow = rows.select(udf(HeldRows.hold _).asNondeterministic()(col("id")).as("id"))
    val ended = Future(run(slow.withColumn("ts", timestamp_millis(lit(Start - 1))).withE2ELatency(id, "ts")))
    eventually(assert(findNode(id).exists(_.records > 0)))
    BrokenChannel.during(())
    val shown = node(id).records
    while (!ended.isCompleted) {
      assert(Set(shown, 6L)(node(id).records))
      Thread.sleep(20) // to leave the task a processor
    }
    assert(node(id).records === 6)
  }

  test("in continuous mode, too, windows of a second tell which operators are at work") {
    byTheWall {
      withSettings("spark.sparklatency.auto" -> "source,terminal") {
        val rate = rateSource(perSecond = 50, partitions = 2)
        val resting = rate.filter(LongTasksSuite.resting(col("timestamp")))
        val query = resting.writeStream.queryName("continuous_windows").format("noop")
          .trigger(Trigger.Continuous("1 second")).start()
        try eventually {
            val told = work("continuous_windows", "operators").get
            assert(told.get("of").asText === "window")
            assert(latencies(told)("sink").exists(_ > 100))
            assert(told.get("criticalPath").elements.asScala.map(_.asText).toSeq === Seq(
              "source-0-rate",
              "sink"
            ))
            // There are 25 records a second for each of the two tasks, and a task is through with ten.
            isBusy("continuous_windows", "sink")
          }
        finally query.stop()
      }
    }
  }

  test("in continuous mode a marker passes each node once, however many epochs went before") {
    byTheWall {
      withSettings(
        "spark.sparklatency.auto" -> "source,terminal",
        "spark.sparklatency.markers.interval" -> "1s"
      ) {
        val rate = rateSource(perSecond = 50, partitions = 2)
        val query = rate.writeStream.queryName("epochs").format("noop")
          .trigger(Trigger.Continuous("1 second")).start()
        try {
          val markers = eventually {
            val markers = answerOf("epochs").get("markers")
            assert(markers.get("count").asLong >= 10)
            markers
          }
          val passed = markers.get("of").elements.asScala.map(_.get("latency").get("count").asLong)
          assert(passed.sum === markers.get("count").asLong)
        } finally query.stop()
      }
    }
  }

  test("in continuous mode automatic nodes measure, and keep their counts when the query stops") {
    withSettings("spark.sparklatency.auto" -> "source,terminal") {
      val rate = rateSource(perSecond = 50, partitions = 2)
      val query = rate.filter(
        "value >= 0"
      ).writeStream.queryName("continuous").format("noop").trigger(Trigger.Continuous("1 second")).start()
      val counted =
        try {
          eventually(assert(Seq("source-0-rate", "sink").forall(figures(_, "continuous").exists(_._1 > 50))))
          // Both have told all their tasks' records but those of the last half second.
          eventually {
            val parts = answerOf("continuous").get("parts").get("of").elements.asScala
            assert(parts.map(part => part.get("code").asText -> part.get("nodes").size).toSeq ===
              Seq("source-queuing" -> 0, "work" -> 1))
          }
          node("sink", "continuous").records
        } finally query.stop()
      assert(node("sink", "continuous").records >= counted)
    }
  }
}

object LongTasksSuite {
  private val mayEnd = new CountDownLatch(1)
  private val mayPass = new CountDownLatch(1)

  private val resting = udf { (_: Timestamp) =>
    Thread.sleep(100)
    true
  }.asNondeterministic()

  private val held = heldBy(() => mayPass)

  private val mayShow = new CountDownLatch(1)
  private val heldIfOld = udf { (at: Timestamp) =>
    if (at.getTime < System.currentTimeMillis() - 1800000) mayShow.await()
    true
  }.asNondeterministic()

  private val mayPassInBatch = new CountDownLatch(1)
  private val heldInBatch = heldBy(() => mayPassInBatch)

  /** The latch is this process's: a task has a copy of all that its function holds. */
  private def heldBy(latch: () => CountDownLatch) = udf { (_: Timestamp) =>
    latch().await()
    true
  }.asNondeterministic()
}
