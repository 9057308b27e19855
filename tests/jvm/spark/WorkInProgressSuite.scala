package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.CountDownLatch

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import io.sparklatency.time.WallClock
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.time.Millis
import org.scalatest.time.Span

/** What operators did so far in a batch that runs, and in windows of a second where no batch ends. */
class WorkInProgressSuite extends LongTasksTest {

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
      val scored = read.filter(WorkInProgressSuite.resting(col("value"))).withE2ELatency("scored", "value")
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
      val scored = read.filter(WorkInProgressSuite.resting(col("value"))).withE2ELatency("scored", "value")
      val query = startInRealTime(scored, "busy")
      try {
        input.addData(Seq.fill(600)(new Timestamp(System.currentTimeMillis())): _*) // ten minutes of work
        eventually(interval(Span(500, Millis)))(isBusy("busy", "scored"))
        assert(query.lastProgress === null)
      } finally query.stop()
      // Its last figures stay, though its batch is lost.
      isBusy("busy", "scored")
      val last = answerOf("busy")
      WallClock.install(new Shifted(3600000))
      assert(answerOf("busy") === last)
    }
  }

  test("a batch in progress shows what its operators did so far, and its end takes their place") {
    byTheWall {
      withSettings("spark.sparklatency.publish.after" -> "1s") {
        val input = stream
        val read = input.toDF().withE2ELatency("a", "value")
        val scored = read.filter(WorkInProgressSuite.held(col("value"))).withE2ELatency("b", "value")
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
          WorkInProgressSuite.mayPass.countDown()
          processAll(query)
          assert(work("so_far", "operatorsSoFar") === None)
          assert(work("so_far", "operators").map(_.get("of").asText) === Some("batch"))
        } finally {
          WorkInProgressSuite.mayPass.countDown()
          query.stop()
        }
      }
    }
  }

  test("a batch query in progress shows what its operators did so far, and its end takes their place") {
    byTheWall {
      withSettings("spark.sparklatency.publish.after" -> "1s") {
        val rows = spark.range(0, 4, 1, 1).select(timestamp_millis(col("id")).as("value"))
        val scored = rows.withE2ELatency("a", "value").filter(WorkInProgressSuite.heldInBatch(col("value")))
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
          WorkInProgressSuite.mayPassInBatch.countDown()
          Await.result(ended, Patience.Seconds.seconds)
          assert(work("__batch__", "operatorsSoFar") === None)
          assert(lastEnded === Some(batch))
        } finally WorkInProgressSuite.mayPassInBatch.countDown()
      }
    }
  }

  test("in continuous mode, too, windows of a second tell which operators are at work") {
    byTheWall {
      withSettings("spark.sparklatency.auto" -> "source,terminal") {
        val rate = rateSource(perSecond = 50, partitions = 2)
        val resting = rate.filter(WorkInProgressSuite.resting(col("timestamp")))
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
            // There are 25 records a second for each of the two tasks, and a task is through with one.
            isBusy("continuous_windows", "sink")
          }
        finally query.stop()
      }
    }
  }
}

object WorkInProgressSuite {
  private val mayPass = new CountDownLatch(1)

  /** Long beside what a busy machine takes to hand the next row over: a task that does this is at work all the time. */
  private val resting = udf { (_: Timestamp) =>
    Thread.sleep(1000)
    true
  }.asNondeterministic()

  private val held = heldBy(() => mayPass)

  private val mayPassInBatch = new CountDownLatch(1)
  private val heldInBatch = heldBy(() => mayPassInBatch)

  /** The latch is this process's: a task has a copy of all that its function holds. */
  private def heldBy(latch: () => CountDownLatch) = udf { (_: Timestamp) =>
    latch().await()
    true
  }.asNondeterministic()
}
