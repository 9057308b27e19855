package io.sparklatency.spark

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import io.sparklatency.answer.Parts
import io.sparklatency.figures.Metric
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.latency.ListenerBus

/** The gauges of a query as a whole: each run has all of them, from its start to its end. */
class QueryGaugesSuite extends StreamingTest with Patient {
  private val all = (Metric.ofQueries ++ Parts.metrics).map(_.name).toSet

  private def of(query: String): Map[String, Double] = gauges.collect {
    case (name, value: Double) if name.startsWith(s"query.$query.") =>
      name.stripPrefix(s"query.$query.") -> value
  }.filter { case (name, _) => !name.contains('.') }

  private def known(query: String): Map[String, Double] = of(query).filter { case (_, value) => !value.isNaN }

  test("a query without marks has them, and so has its next run") {
    listen()
    for (_ <- 1 to 2) {
      val input = stream
      val query = start(input.toDF(), "gauges_unmarked")
      try {
        eventually(assert(of("gauges_unmarked").keySet === all))
        assert(of("gauges_unmarked")("commit-age").isNaN)
        input.addData(ago(1))
        processAll(query)
        clock.advance(5000)
        eventually(assert(known("gauges_unmarked").keySet === Set(
          "commit-age",
          "batch-duration",
          "rows-dropped-late",
          "tasks-failed"
        )))
        assert(of("gauges_unmarked")("commit-age") === 5000.0)
      } finally query.stop()
      assert(of("gauges_unmarked") === Map.empty)
    }
  }

  test("a run that hangs before its first plan has them, and keeps them when it goes on") {
    listen()
    val (asked, mayAnswer) = (new CountDownLatch(1), new CountDownLatch(1))
    val calls = new AtomicInteger
    // First for its limit, before the first trigger.
    HesitantSource.asked = () =>
      if (calls.incrementAndGet() > 1) {
        asked.countDown()
        mayAnswer.await()
      }
    val read = spark.readStream.format(classOf[HesitantSource].getName).load()
    byTheWall {
      val query = start(read.withE2ELatency("source", "value"), "gauges_hang")
      try {
        assert(asked.await(Patience.Seconds, TimeUnit.SECONDS), "its source is asked")
        assert(of("gauges_hang").keySet === all)
        assert(known("gauges_hang").keySet === Set("batch-in-progress", "progress-age", "tasks-failed"))
        mayAnswer.countDown()
        (1 to 2).foreach(_ => HesitantSource.add())
        processAll(query)
        assert(of("gauges_hang").keySet === all)
        eventually(assert(known("gauges_hang").contains("commit-age")))
        assert(gauges("query.gauges_hang.node.source.records") === HesitantSource.size.toLong)
      } finally {
        HesitantSource.asked = () => ()
        mayAnswer.countDown()
        query.stop()
      }
    }
    assert(of("gauges_hang") === Map.empty)
  }

  test("where a batch does not tell what was before its first node, that is one part of the age") {
    val input = stream
    val query = start(input.toDF().repartition(1).withE2ELatency("node", "value"), "gauges_together")
    try {
      input.addData(ago(100, 300))
      processAll(query)
      assert(known("gauges_together").filter { case (name, _) => name.startsWith("age-") } ===
        Map("age-source-queuing-and-processing" -> 200.0, "age-commit" -> 0.0))
    } finally query.stop()
  }

  test("of two runs of one name the other has them when the first has ended") {
    listen()
    val sessions = Seq(spark, spark.newSession())
    val queries = sessions.map { session =>
      session.readStream.format(classOf[WordSource].getName).load().writeStream.format("noop")
        .queryName("gauges_twice").start()
    }
    try {
      queries.foreach(processAll)
      assert(of("gauges_twice").keySet === all)
      queries.head.stop()
      ListenerBus.awaitEmpty(spark.sparkContext)
      assert(of("gauges_twice").keySet === all)
      assert(known("gauges_twice").contains("commit-age"))
    } finally queries.foreach(_.stop())
    assert(of("gauges_twice") === Map.empty)
  }
}
