package org.apache.spark.sql.latency

import io.sparklatency.figures.Granularity
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.spark.MarkersTest
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.status.KVUtils
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore
import org.apache.spark.util.kvstore.KVStore

/** Latency markers in the event log. In Spark's own package for its format. */
class MarkerEventsSuite extends MarkersTest {

  /** The lines of the event log that batches of `run` make. */
  private def logged(run: => Unit): Seq[String] =
    EventLog.during(spark.sparkContext)(run)._2.filter(_.contains("SparkListenerLatencyBatch"))

  private def reading[A](log: Seq[String], from: KVStore)(read: LatencyStore => A): A =
    try {
      val archive = new BatchArchive(from, kept = 10)
      log.foreach(line => archive.onOtherEvent(JsonProtocol.sparkEventFromJson(line)))
      read(new LatencyStore(from, live = None))
    } finally from.close()

  private def disk: KVStore = KVUtils.createKVStore(
    Some(TemporaryFolder("store").toFile),
    live = false,
    spark.sparkContext.conf
  )

  for (
    (kind, store) <-
      Seq[(String, () => KVStore)]("memory" -> (() => new InMemoryStore), "disk" -> (() => disk))
  )
    test(s"a History Server shows the markers of a run by source and operator, from a store in $kind") {
      withSettings(atEnds ++ on :+ ("spark.sparklatency.markers.granularity" -> "subtask"): _*) {
        val log = logged(ran(line.withColumn("x", blocking(20)).repartition(2))(_ => ()))
        val markers = reading(log, store())(_.queries.head.markers.get)
        val of = markers.of.map { one =>
          val (key, figures) = (one.key, one.figures)
          val subtasks = key.sourceSubtask ++ key.operatorSubtask
          (key.source, key.operator, subtasks.size, figures.total.count, figures.window.max, one.last.max)
        }
        // One partition is read, and there are two behind the shuffle.
        assert(of === Seq(source -> 1, "sink" -> 2, "__commit__" -> 1).map { case (operator, count) =>
          (Some(source), operator, 0, count, Some(20), Some(20))
        })
        assert((markers.count, markers.markedMs) === ((1, Some(Start))))
        assert(markers.settings === MarkerSettings(Some(1000), Granularity.Subtask))
      }
    }

  test("a log without markers has no word of them") {
    withSettings(atEnds: _*) {
      val input = stream
      input.addData(ago(5))
      val log = logged(ran(watermarked(input))(_ => ()))
      assert(log.nonEmpty && !log.exists(_.contains("\"markers\":")))
    }
  }
}
