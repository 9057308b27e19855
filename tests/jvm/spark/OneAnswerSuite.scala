package org.apache.spark.sql.latency

import java.sql.Timestamp
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Drop
import io.sparklatency.spark.LatencyJson
import io.sparklatency.spark.Lines
import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.Patience
import io.sparklatency.spark.Patient
import io.sparklatency.spark.PythonApi
import io.sparklatency.spark.Shifted
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import io.sparklatency.time.WallClock
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.streaming.StreamingQuery

/** One moment, and what every surface says of it: in the application, and in a History Server that has read its events. */
class OneAnswerSuite extends StreamingTest with EverySurface with Patient {
  import EverySurface.App
  import OneAnswerSuite._

  /** A record from the future, and fewer and younger ones at the end than came in, for one is late. */
  private def runShop(name: String): StreamingQuery = {
    val input = stream
    val query = startWindows(input, name)
    try {
      input.addData(ago(-3, 300, 2000))
      processAll(query)
      clock.advance(1000)
      input.addData(ago(50, 60000))
      processAll(query)
      query
    } finally {
      query.stop()
      ListenerBus.awaitEmpty(spark.sparkContext)
    }
  }

  /** Records that are two hours old when they are read, and one that is older and late: so younger ones come out than came in. */
  private def runWaiting(name: String): StreamingQuery = {
    val input = stream
    val query = startWindows(input, name)
    def add(ages: Long*): Unit = { input.addData(ages.map(age => new Timestamp(clock.millis() - age))); () }
    try {
      add(2 * Hour)
      processAll(query)
      clock.advance(1000)
      add(2 * Hour, 3 * Hour)
      processAll(query)
      query
    } finally {
      query.stop()
      ListenerBus.awaitEmpty(spark.sparkContext)
    }
  }

  test(
    "tab, REST, SQL and Python say the same, while the application runs and when it is read from its events"
  ) {
    val query = runShop("one_answer")
    val answer = answerOf(query)
    assert(answer.notes.map(_.code) ===
      Seq("younger-downstream", "ahead-of-clock", "ahead-of-clock", "rows-dropped-late", "different-records"))
    assert(of(answer).headline.startsWith("Slowest step: ") && of(answer).parts.size === 3)
    saidEverywhere("one_answer", answer)
    saidByHistoryServer("one_answer", query, answer)
  }

  test(
    "every surface says the same of a query that tells all parts of its records' age, and what its cause is"
  ) {
    // Spark's own clock says when batches began. By ours, an hour ahead, it took that hour until their first read.
    clock.set(System.currentTimeMillis + Hour)
    val query = runWaiting("one_age")
    val answer = answerOf(query)
    assert(answer.query.explained.nonEmpty && answer.cause.nonEmpty)
    val parts = answer.parts.of.map(_.code)
    assert(Set("arrived-old", "start-of-the-batch", "waited-in-state").subsetOf(parts.toSet), parts)
    assert(answer.parts.of.exists(_.nodes === Seq("sink")), "a part that is of a node")
    assert((of(answer).cause, of(answer).status) === (("arrived-old", Some("FINISHED"))))
    assert(of(answer).progress.exists(_.startsWith("Finished. ")), of(answer))
    saidEverywhere("one_age", answer)
    saidByHistoryServer("one_age", query, answer)
  }

  test("every surface says the same of a query whose batch goes on, and what it does") {
    val (input, begun, ended) = (stream, new CountDownLatch(1), new CountDownLatch(1))
    val query = marked(input).writeStream.queryName("one_batch_on").foreachBatch {
      (batch: DataFrame, number: Long) =>
        batch.collect()
        if (number == 1) {
          begun.countDown()
          ended.await()
        }
    }.start()
    try {
      input.addData(ago(300))
      processAll(query)
      input.addData(ago(50))
      assert(begun.await(Patience.Seconds, TimeUnit.SECONDS), "the batch runs")
      val answer = answerOf(query)
      assert(of(answer).status === Some("RUNNING"))
      assert(of(answer).progress.exists(_.startsWith("Batch 1 has run for ")), of(answer))
      saidEverywhere("one_batch_on", answer)
    } finally {
      ended.countDown()
      query.stop()
    }
  }

  test(
    "every surface says the same of a query in real-time mode that has ended, in which records waited for a step"
  ) {
    withSettings("spark.sql.streaming.realTimeMode.minBatchDuration" -> "1s") {
      byTheWall {
        val input = LowLatencyMemoryStream[Timestamp](spark, 1)
        val read = input.toDF().withE2ELatency("read", "value")
        val scored = read.filter(resting(col("value"))).withE2ELatency("scored", "value")
        val query = scored.writeStream.queryName("one_real_time").outputMode("update").foreach(Drop)
          .trigger(Lines.realTime("6 seconds")).start()
        try {
          input.addData(Seq.fill(2000)(new Timestamp(System.currentTimeMillis())): _*) // half an hour of work
          eventually(assert(store.history(store.query(query.runId.toString).get).size >= 2))
        } finally query.stop()
        ListenerBus.awaitEmpty(spark.sparkContext)
        WallClock.install(new Shifted(Hour))
        val answer = answerOf(query)
        val waits =
          " of the time at scored, and records wait for it. Make that faster, or give it more cores."
        assert(answer.headline.code.name -> answer.headline.node === "source-queuing" -> Some("scored"))
        assert(answer.headline.text.endsWith(waits))
        saidEverywhere("one_real_time", answer)
        withHistoryServer(query) { server =>
          val read = answered(s"$server/api/v1/applications/$App/latency/queries/one_real_time")
          val headline = mapper.readTree(read).at("/queries/0/headline")
          val said = Seq("code", "node").map(headline.get(_).asText)
          assert(said === Seq("source-queuing", "scored"))
          assert(headline.get("text").asText.endsWith(waits))
        }
      }
    }
  }

  test("JSON has each watermark's lag, and the split of the last batch while the window has others") {
    runShop("one_batch")
    val query = mapper.readTree(PythonApi.latencyJson(spark, "one_batch")).get("queries").get(0)
    val batch = query.get("lastBatch")
    assert(batch.get("watermarks").get(0).get("lag").asLong === 11000 - 3)
    assert(query.get("nodes").get(1).get("commit").get("max").asLong === 2000)
    assert(query.get("split").get("total") === mapper.readTree(
      """{"min": 1050, "avg": 1050.0, "p50": 1050, "p99": 1050, "max": 1050}"""
    ))
    assert(query.get("split") === batch.get("split"))
    assert(
      PythonApi.latencyJson(spark, "one_batch").contains(""""max":1050,"""),
      "a whole number has no fraction"
    )
  }

  test("every surface says the same in silence, too") {
    val query = runShop("one_silence")
    clock.advance(3600000)
    val answer = store.answer(store.query(query.runId.toString).get)
    assert(answer.notes.head.code === "silent")
    saidEverywhere("one_silence", answer)
  }

  test("all queries are the same on every surface, also after a restart under one name") {
    val (first, second) = (runShop("one_restart"), runShop("one_restart"))
    val python = mapper.readTree(PythonApi.latencyJson(spark, null))
    val runs = ids(python, "queries")
    assert(runs.contains(second.runId.toString) && !runs.contains(first.runId.toString))
    assert(ids(python, "earlierRuns").contains(first.runId.toString))
    val ofStore = LatencyJson.all(store).toString
    assert(PythonApi.latencyJson(spark, null) == ofStore, "Python has what the store has")
    assert(mapper.readTree(PythonApi.latencyJson(
      spark,
      "one_restart"
    )).get("queries").get(0).get("run").asText ===
      second.runId.toString)

    // By name, too: batch queries have no run, and others may have none.
    val sql = spark.sql("SELECT query, run_id FROM e2e_latency()").collect()
    val names = python.get("queries").elements.asScala.map(_.get("query").asText).toSeq
    assert(sql.map(row => row.getString(0) -> row.getString(1)).distinct === names.zip(runs))
    val live = spark.sparkContext.uiWebUrl.get
    assert(mapper.readTree(answered(s"$live/api/v1/latency")) == python, "REST has what Python has")
    val links =
      "/latency/query/\\?id=([0-9a-f-]{36})\"".r.findAllMatchIn(
        answered(s"$live/latency/")
      ).map(_.group(1)).toSeq
    // What has no run has its name in its link, and a query that nobody has named is called after its id.
    val shown = names.zip(runs).map { case (name, run) => Option(run).getOrElse(name) }
    assert(links === shown.filter(_.matches("[0-9a-f-]{36}")) ++ ids(python, "earlierRuns"))
  }

  private def ids(json: JsonNode, list: String): Seq[String] =
    json.get(list).elements.asScala.map(one =>
      if (one.get("run").isNull) null else one.get("run").asText
    ).toSeq
}

object OneAnswerSuite {
  private val Hour = 3600000L

  /** As in WorkInProgressSuite. */
  private val resting = udf { (_: Timestamp) =>
    Thread.sleep(1000)
    true
  }.asNondeterministic()
}
