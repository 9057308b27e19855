package org.apache.spark.sql.latency

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

import scala.jdk.CollectionConverters._

import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LastWindows
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.StageTimes
import io.sparklatency.figures.WatermarkKind
import io.sparklatency.recording.NewerFormatException
import io.sparklatency.spark.LatencyJson
import io.sparklatency.spark.Logged
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.latency.history.StoredBatch
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore
import org.scalatest.funsuite.AnyFunSuite

/** Whatever version of the event stands in a log. In Spark's own package for its event log's format. */
class EventVersionSuite extends AnyFunSuite {
  private val fixtures: Map[Int, String] = {
    val Name = """latency-batch-(\d+)\.json""".r
    val folder = Paths.get(getClass.getResource("/latency-batch-1.json").toURI).getParent
    val files = Files.list(folder)
    try files.iterator.asScala.map(file => (file.getFileName.toString, file)).collect {
        case (Name(version), file: Path) => version.toInt -> Files.readString(file).trim
      }.toMap
    finally files.close()
  }
  private val markersEvent =
    Files.readString(Paths.get(getClass.getResource("/latency-batch-2-markers.json").toURI)).trim
  private val newest = fixtures(EventVersion.Newest)
  private val ofVersion99 = newest.replaceFirst("\"version\":\\d+", "\"version\":99")

  private def read(event: String): SparkListenerLatencyBatch =
    JsonProtocol.sparkEventFromJson(event).asInstanceOf[SparkListenerLatencyBatch]

  private def history(store: InMemoryStore): Seq[Batch] = {
    val latencies = new LatencyStore(store, None)
    latencies.queries.flatMap(latencies.history(_))
  }

  test("there is an event of each version ever written") {
    assert(fixtures.keys.toSeq.sorted === (1 to EventVersion.Newest))
    for ((version, event) <- fixtures) assert(read(event).version === version)
  }

  for ((version, event) <- fixtures.toSeq.sorted)
    test(s"an event of version $version gives the figures that were written") {
      val record = read(event).record
      assert((record.query, record.batch, record.inputRows) === (("orders", 7, 5)))
      assert(record.watermarks.map(_.source) === Seq("kafka[orders]"))
      assert(record.durationsMs === Map("addBatch" -> 412L, "triggerExecution" -> 530L))
      val figures = record.nodes.map(node =>
        node.id -> node.measures.map { case (measure, s) =>
          val counts = Seq(s.count, s.withoutTimestamp, s.aheadOfClock, s.sum.toLong)
          measure -> ((counts, s.min, s.avg, s.max, s.percentiles(Seq(50, 90, 99)).flatten))
        }
      )
      assert(figures === Seq(
        "source" -> Map(Measure.E2ELatency ->
          ((Seq(5, 1, 0, 1100), Some(100), Some(220.0), Some(500), Seq(200, 500, 500)))),
        "sink" -> Map(
          Measure.E2ELatency ->
            ((Seq(5, 1, 1, 1270), Some(-30), Some(254.0), Some(700), Seq(200, 700, 700))),
          Measure.Commit ->
            ((Seq(5, 1, 0, 2270), Some(170), Some(454.0), Some(900), Seq(401, 900, 900)))
        )
      ))
    }

  test("what is written is the newest version, and no field of it has changed") {
    val written = JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(read(newest).record))
    assert(written === newest)
  }

  test("an event with latency markers gives what was written, and is written in the same way") {
    val event = read(markersEvent)
    val markers = event.record.markers.get
    assert(markers.settings === MarkerSettings(Some(1000), Granularity.Subtask))
    assert((markers.count, markers.markedMs) === ((2, 1790000000000L)))
    val of = markers.of.map { case (key, s) =>
      (key.source, key.operator, s.count, s.min, s.avg, s.max, s.percentiles(Seq(50, 99)).flatten)
    }
    assert(of === Seq(
      (Some("kafka[orders]"), "sink", 5, Some(100), Some(220.0), Some(500), Seq(200, 500)),
      (None, "__commit__", 5, Some(170), Some(454.0), Some(900), Seq(401, 900))
    ))
    assert(JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(event.record)) === markersEvent)
  }

  test("a watermark that goes by the clock is one when the event is read") {
    val record = read(newest).record
    val system = record.copy(watermarks = record.watermarks.map(_.copy(kind = WatermarkKind.SystemTime)))
    val event = read(JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(system)))
    assert(event.record.watermarks.map(_.kind) === Seq(WatermarkKind.SystemTime))
    assert(record.watermarks.map(_.kind) === Seq(WatermarkKind.EventTime))
  }

  test("since when a source is idle stands in the event") {
    val record = read(newest).record
    val idle = record.copy(watermarks = record.watermarks.map(_.copy(idleSinceMs = Some(5))))
    val event = read(JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(idle)))
    assert(event.record.watermarks.map(_.idleSinceMs) === Seq(Some(5)))
    assert(record.watermarks.map(_.idleSinceMs) === Seq(None))
  }

  /** The newest event with another record, written and read, and the query that a History Server makes of it. */
  private def stored(change: Batch => Batch): (Batch, QuerySnapshot) = {
    val event =
      read(JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(change(read(newest).record))))
    val store = new InMemoryStore
    new BatchArchive(store, kept = 10).onOtherEvent(event)
    val Seq(query) = new LatencyStore(store, None).queries: @unchecked
    (event.record, query)
  }

  test("who was at work stands in the event, and whoever reads it shows that") {
    val stages = Seq(
      StageTimes(Nil, 0, 10.5, 2, Seq(NodeTimes("source", Some(0.0), 9.25, 1, "1")), Seq("source"), 10.5),
      StageTimes(Seq(0), 12, 30, 1, Seq(NodeTimes("sink", None, 28.5, 0, "2")), Seq("sink"), 18)
    )
    for (bound <- Seq(Some(0.25), None)) {
      val times = BatchTimes(7, 1234567, bound, stages)
      val (record, query) = stored(_.copy(times = Some(times)))
      assert(record.times === Some(times))
      assert(query.times === Some(times))
      assert(query.nodes.map(node => node.id -> node.operator) === Seq("source" -> Seq(0.0), "sink" -> Nil))
    }
  }

  test("who was at work when a batch ended that goes on for minutes stands in the event, too") {
    val stage = StageTimes(
      Nil,
      0,
      980,
      1,
      Seq(
        NodeTimes("source", Some(0.0), 980, 1, "1"),
        NodeTimes("sink", Some(980.0), 980, 1, "1")
      ),
      Seq("source", "sink"),
      0
    )
    val told = BatchTimes(11, 1234567, Some(0.0), Seq(stage), BatchTimes.Window)
    for (last <- Seq(Some(told), None)) {
      val windows = LastWindows(last, Map("source" -> Seq(0.0), "sink" -> Seq(970.0, 980.0)))
      val (record, query) = stored(_.copy(windows = Some(windows)))
      assert(record.windows === Some(windows))
      assert((query.hasNoEnd, query.times) === ((true, last)))
      assert(query.nodes.map(node => node.id -> node.operator) ===
        Seq("source" -> Seq(0.0), "sink" -> Seq(970.0, 980.0)))
    }
    assert(read(newest).record.windows === None)
  }

  test(
    "batches of a newer version are skipped with one warning that says what to do, and the others are shown"
  ) {
    val store = new InMemoryStore
    val archive = new BatchArchive(store, kept = 10)
    val logged = Logged.during {
      for (event <- Seq(ofVersion99, newest, ofVersion99, ofVersion99)) archive.onOtherEvent(read(event))
    }
    assert(LatencyJson.history(history(store)) === LatencyJson.history(Seq(read(newest).record)))
    assert(logged === Seq(
      "batches of query 'orders' are skipped: batches of format 99 were written by a newer sparklatency; this one " +
        "reads formats up to 2: upgrade sparklatency on the History Server, or wherever else they are read"
    ))
    val latencies = new LatencyStore(store, None)
    assert(latencies.queries.flatMap(latencies.answer(_).notes.map(_.text)).filter(_.contains("newer")) ===
      Seq(s"Batches are skipped: ${logged.head.dropWhile(_ != ':').drop(2)}."))
  }

  test(
    "the warning of batches that are skipped is short, though their query's name has a million characters"
  ) {
    val archive = new BatchArchive(new InMemoryStore, kept = 10)
    val batch = read(ofVersion99).copy(query = "x" * 1000000)
    val logged = Logged.during(archive.onOtherEvent(batch))
    assert(logged.map(_.takeWhile(_ != ':').take(200)) ===
      Seq(s"batches of query '${"x" * 24}…${"x" * 23}' are skipped"))
  }

  test("a batch whose summaries are of a newer format is skipped whole") {
    val store = new InMemoryStore
    val archive = new BatchArchive(store, kept = 10)
    val event = read(newest)
    for (node <- event.nodes; bytes <- node.measures.values.asScala) bytes(0) = 99
    val logged = Logged.during(archive.onOtherEvent(event))
    assert(store.count(classOf[StoredBatch]) === 0)
    assert(history(store).isEmpty && logged.size === 1 && logged.head.contains("latencies of format 99"))
  }

  test("a class that is missing when a batch is stored ends nothing, and the log says so once") {
    val broken = new InMemoryStore {
      override def write(value: AnyRef): Unit = throw new NoClassDefFoundError("org/apache/spark/Moved")
    }
    val archive = new BatchArchive(broken, kept = 10)
    val logged = Logged.during((1 to 2).foreach(_ => archive.onOtherEvent(read(newest))))
    assert(logged.count(_ == "this Spark does not fit, and an event was not stored") === 1)
  }

  test("a batch of a newer version is not guessed at") {
    assert(intercept[NewerFormatException](read(ofVersion99).record).found === 99)
  }
}
