package org.apache.spark.sql.latency

import java.io.ByteArrayInputStream
import java.sql.Timestamp
import java.util.UUID
import java.util.zip.GZIPInputStream

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.StageTimes
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.LatencyJson
import io.sparklatency.spark.Lines
import io.sparklatency.spark.Logged
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.History.HYBRID_STORE_DISK_BACKEND
import org.apache.spark.internal.config.History.HybridStoreDiskBackend
import org.apache.spark.scheduler.SparkListenerEnvironmentUpdate
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.application.LatencyHistory
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.latency.history.StoredRun
import org.apache.spark.status.KVUtils
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore
import org.apache.spark.util.kvstore.KVStore

/** What surfaces show is made from events. In Spark's own package for its store and its event log's format. */
class LatencyStoreSuite extends StreamingTest with ArchivedBatches {

  private def live: LatencyStore = LiveStore.of(spark.sparkContext)

  private def fromEvents: LatencyStore = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    shown(spark.sparkContext.statusStore.store)
  }

  /** Without its status, which events tell only of a run that has ended, and without what it does now. */
  private def json(query: Option[QuerySnapshot]) = query.map { one =>
    val told = one.copy(atMs = None, activity = None, oldestUncommittedMs = None)
    LatencyJson.one(new QueryAnswer(told, None)).toPrettyString
  }

  /** Two batches of a query with a window, a commit and a late record. */
  private def runTwoBatches(name: String): Unit = {
    val input = stream
    val query = startWindows(input, name)
    try {
      input.addData(ago(100, 300, 2000))
      processAll(query)
      clock.advance(1000)
      input.addData(ago(50, 60000))
      processAll(query)
    } finally query.stop()
  }

  test("the events of a query make the figures that its application shows") {
    runTwoBatches("from_events")
    val (running, read) = (live.query("from_events"), fromEvents.query("from_events"))
    assert(running.exists(_.nodes.map(_.measures(Measure.E2ELatency).total.records) == Seq(5, 3)))
    assert(json(read) === json(running))
  }

  test(
    "events tell what each node measured last, also where the last batches had no records for longer than a window"
  ) {
    val input = stream
    val kept = watermarked(input).filter(col("value") > lit(ago(60000).head)).withE2ELatency("source")
    val query = start(kept.withE2ELatency("sink"), "silent_events")
    try {
      input.addData(ago(100, 300))
      processAll(query)
      clock.advance(3600000)
      input.addData(ago(90000))
      processAll(query)
      val (running, read) = (live.query("silent_events"), fromEvents.query("silent_events"))
      assert(read.map(_.isSilent) === Some(true))
      assert(read.map(_.latest.map(node => node(Measure.E2ELatency).max -> node(Measure.Commit).max)) ===
        Some(Seq((Some(300), None), (Some(300), Some(300)))))
      assert(json(read) === json(running))
    } finally query.stop()
  }

  test("an event reads from the event log as it was written") {
    runTwoBatches("logged")
    val batches = live.query("logged").map(live.history(_)).get
    assert(batches.size >= 2)
    val read = batches.map { batch =>
      val text = JsonProtocol.sparkEventToJsonString(SparkListenerLatencyBatch(batch))
      JsonProtocol.sparkEventFromJson(text).asInstanceOf[SparkListenerLatencyBatch].record
    }
    assert(LatencyJson.history(read) === LatencyJson.history(batches))
  }

  test("a batch tells its watermarks, what was dropped late, and where its time went") {
    runTwoBatches("joined")
    val history = live.history(live.query("joined").get)
    val second = history.filter(_.inputRows > 0).last
    assert(second.watermarkMs === Some(Start - 100 - 10000))
    assert(second.watermarks.map(w => (w.source, w.column, w.delayMs, w.watermarkMs, w.holdsBack)) ===
      Seq(("memory", "value", 10000, Some(Start - 50 - 10000), true)))
    assert(second.droppedLate === 1)
    assert(live.query("joined").flatMap(_.rowsDroppedLate) === Some(1), "of all batches")
    assert(second.durationsMs.contains("addBatch"))
    // Each batch with records is followed by one without, which gives out what came in with it.
    val took = history.map(_.admission.map(_.tookMs.toDouble))
    assert(
      history.map(_.before.map(_.tookMs)) === Seq(None, None, took(1), took(1)),
      "what filled the batch before"
    )
    assert(history.map(_.cameIn.map(_.tookMs)) === Seq(None, took(0), None, took(2)))
    assert(second.nodes.map(node => node.id -> node(Measure.E2ELatency).records) === Seq(
      "source" -> 2,
      "sink" -> 1
    ))
    assert(second.nodes.last(Measure.Commit).max === Some(1050))
  }

  test("a watermark is that of its source in a batch without data too") {
    val input = stream
    val events = input.toDF().select((col("value") + expr("INTERVAL 0 SECONDS")).as("event"))
    val counts = events.withWatermark("event", "1 second").groupBy(window(col("event"), "1 second")).count()
    val query =
      start(counts.select(col("window.end").as("end")).withE2ELatency("sink", "end"), "no_data", "append")
    try {
      input.addData(ago(5000))
      processAll(query)
      val batches = live.history(live.query("no_data").get)
      assert(batches.map(_.inputRows).toSet === Set(0, 1))
      assert(batches.map(_.watermarks.map(_.source)).toSet === Set(Seq("memory")))
    } finally query.stop()
  }

  for (oneBatch <- Seq(true, false))
    test(s"of two watermarked columns the one that is behind holds the query back, ${
        if (oneBatch) "in the batch that reads both" else "though another batch reads the other"
      }") {
      val (orders, clicks) = (stream, stream)
      def side(
          input: Lines.MemoryStream[Timestamp],
          name: String
      ) = input.toDF().toDF(name).withWatermark(name, "1 second")
      val joined = side(orders, "ordered").withE2ELatency("orders")
        .join(side(clicks, "clicked"), expr("ordered = clicked"))
      orders.addData(ago(9000))
      if (oneBatch) clicks.addData(ago(100))
      val name = s"two_watermarks_$oneBatch"
      val query = start(joined, name)
      try {
        processAll(query)
        if (!oneBatch) clicks.addData(ago(100))
        processAll(query)
        val batch = live.history(live.query(name).get).filter(_.inputRows > 0).last
        assert(batch.watermarks.map(w => (w.column, w.watermarkMs, w.holdsBack)) === Seq(
          ("ordered", Some(Start - 10000), true),
          ("clicked", Some(Start - 1100), false)
        ))
      } finally query.stop()
    }

  test("by the policy max the watermarked column that is ahead holds the query back") {
    withSettings("spark.sql.streaming.multipleWatermarkPolicy" -> "max") {
      val (orders, clicks) = (stream, stream)
      val late = orders.toDF().toDF("ordered").withWatermark("ordered", "1 second").withE2ELatency("orders")
      val both = late.join(clicks.toDF().withWatermark("value", "1 second"), expr("ordered = value"))
      val query = start(both, "policy_max")
      try {
        orders.addData(ago(9000))
        clicks.addData(ago(100))
        processAll(query)
        val batch = live.history(live.query("policy_max").get).filter(_.inputRows > 0).last
        assert(batch.watermarks.map(w => w.column -> w.holdsBack) ===
          Seq("ordered" -> false, "value" -> true))
      } finally query.stop()
    }
  }

  test("nodes stand in the order of the plan, though a batch before or after has not all of them") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3)
    for ((ids, n) <- Seq(Seq("sink"), Seq("source", "checked", "sink"), Seq("sink")).zipWithIndex)
      stored.onOtherEvent(batch("run", n.toLong, ids = ids))
    val nodes = shown(kv).query("run").get.nodes
    assert(nodes.map(node => node.id -> node.upstream) ===
      Seq("source" -> Nil, "checked" -> Seq("source"), "sink" -> Seq("checked")))
  }

  test("a setting that does not hold keeps no application from the History Server") {
    val conf = new SparkConf(false).set("spark.sparklatency.history.batches", "0")
    assert(new LatencyHistory().createListeners(conf, null).size === 1)
  }

  test("a failure of ours keeps no application from the History Server") {
    val logged = Logged.during(assert(new LatencyHistory().createListeners(null, null).isEmpty))
    assert(logged.exists(_.contains("The tab Latency is not shown")))
  }

  /** Spark asks by the whole type of a method, and catches nothing where there is none. */
  test("a History Server of either Scala finds the method that it asks for, and nothing of another Spark") {
    val ours = classOf[LatencyHistory]
    val found = ours.getMethods.filter(_.getName == "createListeners").map(_.getReturnType.getName)
    assert(found.toSet === Set("scala.collection.Seq", "scala.collection.immutable.Seq"))
    assert(!classOf[Logging].isAssignableFrom(ours))
  }

  test("a run's window is that of its application, not of the History Server that reads it") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3)
    val settings =
      Seq("spark.sparklatency.num.samples" -> "1", "spark.sparklatency.sample.window" -> "2ms")
    stored.onEnvironmentUpdate(SparkListenerEnvironmentUpdate(Map("Spark Properties" -> settings)))
    for (n <- Seq(0L, 10L)) stored.onOtherEvent(batch("run", n))
    val run = shown(kv).query("run").get
    assert(run.covers === WindowSettings(1, 2))
    val figures = run.nodes.head.measures(Measure.E2ELatency)
    assert((figures.total.records, figures.window.records) === ((2, 1)))
  }

  for (backend <- HybridStoreDiskBackend.values.toSeq.map(_.toString)) {
    def onDisk(check: KVStore => Unit): Unit = {
      val conf = spark.sparkContext.conf.clone.set(HYBRID_STORE_DISK_BACKEND.key, backend)
      val disk = KVUtils.createKVStore(Some(TemporaryFolder("store").toFile), live = false, conf)
      try check(disk)
      finally disk.close()
    }

    test(s"a store on disk gives back what it was given, by $backend") {
      onDisk { disk =>
        val (stored, memory) = (new BatchArchive(disk, 5), new InMemoryStore)
        val inMemory = new BatchArchive(memory, 5)
        (0L until 7L).foreach { n =>
          stored.onOtherEvent(batch("run", n, records = 3))
          inMemory.onOtherEvent(batch("run", n, records = 3))
        }
        assert(json(shown(disk).query("run")) === json(shown(memory).query("run")))
        val run = new KVUtils.KVStoreScalaSerializer().serialize(memory.read(classOf[StoredRun], "run"))
        val text = new String(new GZIPInputStream(new ByteArrayInputStream(run)).readAllBytes())
        assert(text.contains("\"key\":\"run\"") && !text.contains("run/"), "its batches lie apart")
        assert(
          shown(disk).query("run").exists(_.nodes.head.measures(Measure.E2ELatency).total.records == 21)
        )
        stored.onOtherEvent(batch("next", 9))
        val all = shown(disk).all // each reading makes other objects
        assert(
          all.queries.map(_.runId) === Seq(Some("next")) && all.earlier.map(_.runId) === Seq(Some("run"))
        )
      }
    }

    test(s"each run has its own batches in a store on disk, by $backend") {
      onDisk { disk =>
        val (archive, runs) = (new BatchArchive(disk, 5), Seq("a", "b", "c"))
        for (n <- 0L until 7L; run <- runs) archive.onOtherEvent(batch(run, n + 10 * runs.indexOf(run)))
        val last = runs.map(run => run -> (6L + 10 * runs.indexOf(run))).toMap
        for (run <- runs; store = shown(disk); query <- store.query(run)) {
          assert(query.lastBatch.map(_.batch) === Some(last(run)), run)
          assert(store.history(query).map(_.batch) === (last(run) - 4 to last(run)), run)
          assert(store.history(query, 2).map(_.batch) === (last(run) - 1 to last(run)), run)
          assert(store.kept(query).latencies(Set("sink")).size === 5, run)
        }
        assert(runs.flatMap(shown(disk).query(_)).size === 3)
      }
    }

    test(s"a query without figures has no batch in a store on disk, by $backend") {
      onDisk { disk =>
        val (archive, run) = (new BatchArchive(disk, 5, used = true), UUID.randomUUID)
        archive.onOtherEvent(QueryEvents.started(run, run, "unmarked"))
        archive.onOtherEvent(batch("another", 1))
        val query = shown(disk).query("unmarked").get
        assert(shown(disk).kept(query).newest === None)
        assert(shown(disk).history(query) === Nil)
      }
    }
  }

  test("fields and measures that a reader does not know are skipped") {
    val text =
      JsonProtocol.sparkEventToJsonString(batch("run", 3)).replaceFirst("\\{", "{\"unheardOf\":{\"a\":[1]},")
        .replace("\"record-e2e-latency\"", "\"record-unheard-of\"")
    val record = JsonProtocol.sparkEventFromJson(text).asInstanceOf[SparkListenerLatencyBatch].record
    assert(record.batch === 3 && record.nodes.head(Measure.E2ELatency) === LatencySummary.empty)
  }

  test("what a sink took after the last write of its batch is told of a stored run, too") {
    val (kv, told) = (new InMemoryStore, batch("run", 0).record)
    val node = NodeTimes("sink", Some(0.0), 500, 0, "1")
    val stage = StageTimes(Nil, 0, 500, 1, Seq(node), Seq("sink"), 500)
    val times = BatchTimes(0, (told.committedMs - 4000) * 1000, Some(0.0), Seq(stage))
    new BatchArchive(kv, kept = 3).onOtherEvent(SparkListenerLatencyBatch(told.copy(times = Some(times))))
    val run = shown(kv).query("run").map(shown(kv).answer(_))
    assert(run.flatMap(_.work).map(_.text) === Some(
      "Batch 0: what comes after sink took longest: " +
        "3.5 s of 4 s (88 %) from the first read to the commit."
    ))
  }
}
