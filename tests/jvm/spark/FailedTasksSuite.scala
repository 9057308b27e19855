package org.apache.spark.sql.latency

import java.sql.Timestamp
import java.util.concurrent.CountDownLatch
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.sparklatency.figures.FailedTasks
import io.sparklatency.spark.Patience
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import org.apache.spark.scheduler.ExecutorDecommission
import org.apache.spark.scheduler.ExecutorKilled
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.util.JsonProtocol

/** What it costs that a task fails is told at the query, and at its batch. */
class FailedTasksSuite extends StreamingTest with ArchivedBatches {
  import FailedTasksSuite._

  private def failed(query: String): String = queryOf(query).get("progress").get("tasksFailed").asText
  private def notes(query: String, code: String = "tasks-failed"): Seq[String] =
    queryOf(query).get("notes").elements.asScala
      .filter(_.get("code").asText == code).map(_.get("text").asText).toList

  /** The first batch does what fails once again, as functions do that write to other systems. */
  private def start(df: DataFrame, name: String): StreamingQuery =
    df.writeStream.queryName(name).foreachBatch { (batch: DataFrame, number: Long) =>
      if (number == 0) Try(spark.sparkContext.parallelize(Seq(0, 1), 2).map(oneFails).count())
      batch.count()
      ()
    }.start()

  test("an attempt that fails is told with what it failed of, and one that Spark kills is not") {
    val input = stream
    val query = start(input.toDF().withE2ELatency("read", "value"), "fails")
    try {
      for (batch <- 0 to 1) {
        input.addData(ago(1))
        processAll(query)
        assert(failed("fails") === "1")
        assert(queryOf("fails").get("lastBatch").get("tasksFailed").asLong === 1 - batch)
      }
      clock.advance(5000)
      assert(notes("fails") === Seq(
        s"1 attempt of a task has failed, the last 5 s ago: $Why. Spark runs such a task again, and its records wait."
      ))
    } finally query.stop()
    val ofEvents = shown(spark.sparkContext.statusStore.store)
    val read = ofEvents.query("fails").get
    assert(read.failedTasks === Some(FailedTasks(1)))
    val written = ofEvents.history(read).map { batch =>
      JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(batch))
    }
    assert(written.map(
      JsonProtocol.sparkEventFromJson(_).asInstanceOf[SparkListenerLatencyBatch].record.tasksFailed
    ) ===
      Seq(1, 0))
    assert(written.map(_.contains("tasksFailed")) === Seq(true, false), "nobody pays for what did not happen")
  }

  test("an attempt that fails is told of a query without marks, too") {
    listen()
    val input = stream
    input.addData(ago(1))
    val query = start(input.toDF(), "unmarked_fails")
    try {
      processAll(query)
      assert(failed("unmarked_fails") === "1")
      assert(gauges("query.unmarked_fails.tasks-failed") === 1.0)
      assert(notes("unmarked_fails").map(_.contains(Why)) === Seq(true))
    } finally query.stop()
  }

  test("an attempt that fails in a thread of a pool counts for the query whose batch it read") {
    val pool = Executors.newFixedThreadPool(1)
    def inPool(action: => Unit): Unit = {
      val run: Runnable = () => action
      pool.submit(run).get(Patience.Seconds, TimeUnit.SECONDS): Unit
    }
    val queries = for (name <- Seq("makes_the_thread", "uses_it")) yield {
      val input = stream
      val query = input.toDF().withE2ELatency("read", "value").writeStream.queryName(name).foreachBatch {
        (batch: DataFrame, _: Long) =>
          inPool(if (name == "uses_it") Try(batch.filter(failsLater(col("value"))).collect()): Unit)
      }.start()
      input -> query
    }
    try {
      val Seq((first, firstQuery), (second, secondQuery)) = queries: @unchecked
      first.addData(ago(1))
      processAll(firstQuery)
      second.addData(ago(1))
      assert(begun.await(Patience.Seconds, TimeUnit.SECONDS))
      ListenerBus.awaitEmpty(spark.sparkContext)
      mayFail.countDown()
      processAll(secondQuery)
      assert((failed("makes_the_thread"), failed("uses_it")) === (("0", "1")))
    } finally {
      mayFail.countDown()
      queries.foreach { case (_, query) => query.stop() }
      pool.shutdown()
    }
  }

  test("an executor that is lost between two batches is told, and one that Spark lets go is not") {
    val input = stream
    input.addData(ago(1))
    val query = start(input.toDF().withE2ELatency("read", "value"), "has_lost_one")
    def told: Seq[String] = notes("has_lost_one", "executor-lost")
    def removed(executor: String, reason: String): Unit = {
      spark.sparkContext.listenerBus.post(SparkListenerExecutorRemoved(0, executor, reason))
      ListenerBus.awaitEmpty(spark.sparkContext)
    }
    try {
      processAll(query)
      removed("6", ExecutorKilled.message)
      removed("6", ExecutorDecommission(None, "spark scale down").message)
      removed("6", "The executor with id 6 was deleted by a user or the framework.")
      assert(told === Nil)
      removed("7", "\nCommand exited with code 137")
      clock.advance(5000)
      assert(told === Seq(
        "Executor 7 was lost 5 s ago: Command exited with code 137. " +
          "Until another comes, fewer tasks run at a time, and state that it kept is loaded anew."
      ))
      removed("8", ExecutorDecommission(Some("spot"), "worker decommissioned").message)
      assert(told.map(_.takeWhile(_ != '.')) === Seq(
        "2 executors were lost within the last ten minutes, the last one, 8, 0 ms ago: Executor decommission: worker decommissioned"
      ))
    } finally query.stop()
    assert(told === Nil)
  }
}

object FailedTasksSuite {
  private val Why = "java.lang.IllegalStateException: the disk is full"
  private val bothRun = new CyclicBarrier(2)
  private val never = new CountDownLatch(1)
  private val begun = new CountDownLatch(1)
  private val mayFail = new CountDownLatch(1)

  private val failsLater = udf { (at: Timestamp) =>
    begun.countDown()
    mayFail.await()
    if (at != null) throw new IllegalStateException("the disk is full")
    true
  }

  /** The other waits until Spark kills it. */
  private def oneFails(task: Int): Int = {
    bothRun.await(Patience.Seconds, TimeUnit.SECONDS)
    if (task == 1) throw new IllegalStateException("the disk is full")
    never.await()
    task
  }
}
