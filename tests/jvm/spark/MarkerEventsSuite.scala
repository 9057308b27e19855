package org.apache.spark.sql.latency

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.MarkersTest
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore

/** Latency markers in the event log. In Spark's own package for its format. */
class MarkerEventsSuite extends MarkersTest {

  /** The lines of the event log that batches of `run` make. */
  private def logged(run: => Unit): Seq[String] = {
    val events = new ConcurrentLinkedQueue[SparkListenerLatencyBatch]
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case batch: SparkListenerLatencyBatch => events.add(batch); ()
        case _ =>
      }
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      run
      ListenerBus.awaitEmpty(spark.sparkContext)
    } finally spark.sparkContext.removeSparkListener(listener)
    events.asScala.toSeq.map(JsonProtocol.sparkEventToJsonString(_))
  }

  private def read(log: Seq[String]): LatencyStore = {
    val store = new InMemoryStore
    val archive = new BatchArchive(store, kept = 10)
    log.foreach(line => archive.onOtherEvent(JsonProtocol.sparkEventFromJson(line)))
    new LatencyStore(store, live = None)
  }

  test("a History Server shows the markers of a run by source and operator, with the time of its window") {
    withSettings(auto ++ on: _*) {
      val log = logged(ran(line.withColumn("x", blocking(20)))(_ => ()))
      val Seq(query) = read(log).queries: @unchecked
      val markers = query.markers.get
      assert(markers.of.map { one =>
        (
          one.key.source,
          one.key.operator,
          one.key.operatorSubtask,
          one.figures.total.count,
          one.figures.window.max
        )
      } === Seq(source, "sink", "__commit__").map(operator => (Some(source), operator, None, 1, Some(20))))
      assert((
        markers.count,
        markers.markedMs,
        markers.settings.intervalMs
      ) === ((1, Some(Start), Some(1000))))
    }
  }

  test("a log without markers has no word of them") {
    withSettings(auto: _*) {
      val input = stream
      input.addData(ago(5))
      val log = logged(ran(watermarked(input))(_ => ()))
      assert(log.nonEmpty && !log.exists(_.contains("\"markers\":")))
    }
  }
}
