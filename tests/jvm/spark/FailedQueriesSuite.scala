package io.sparklatency.spark

import java.util.concurrent.atomic.AtomicBoolean

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.streaming.StreamingQuery

/** What Prometheus is told of a query that an error ends: its other series go, and an alert on them with them. */
class FailedQueriesSuite extends PagesTest {
  private def failed(query: String): Seq[String] = series("query_failed", query)

  private def series(name: String, query: String): Seq[String] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    val (_, text) = get("/api/v1/latency/prometheus")
    text.linesIterator.filter(_.matches(s"""sparklatency_$name\\{.*query="$query"\\} .*"""))
      .map(_.split(' ').last).toSeq
  }

  for ((marks, name) <- Seq("with" -> "failing", "without" -> "failing_unmarked"))
    test(s"that a query $marks marks has failed is told until it runs again") {
      listen()
      val input = stream
      val fails = new AtomicBoolean
      def started(): StreamingQuery = {
        val rows = if (marks == "with") input.toDF().withE2ELatency("source", "value") else input.toDF()
        rows.writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
          batch.collect()
          if (fails.get) throw new IllegalStateException("on purpose")
        }.start()
      }
      assert(failed(name) === Nil)
      val first = started()
      assert(failed(name) === Seq("0.0"))
      input.addData(ago(1))
      processAll(first)
      assert(failed(name) === Seq("0.0"))
      fails.set(true)
      input.addData(ago(1))
      failure(first)
      assert(failed(name) === Seq("1.0"))
      val counted = if (marks == "with") Seq("1.0") else Nil
      assert(series("records_total", name) === counted)
      clock.advance(120000)
      assert(series("records_total", name) === Nil)
      assert(failed(name) === Seq("1.0"))
      failure(started())
      assert(failed(name) === Seq("1.0"), "before it has committed anything")
      fails.set(false)
      val next = started()
      try {
        processAll(next)
        assert(failed(name) === Seq("0.0"))
      } finally next.stop()
      assert(failed(name) === Nil)
    }
}
