package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.answer.EarlierRun
import io.sparklatency.answer.RunStatus
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LastWindows
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.Measure
import io.sparklatency.spark.StreamingTest
import org.apache.spark.scheduler.SparkListenerApplicationEnd
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.util.kvstore.InMemoryStore

/** Which runs are a query, which are its earlier ones, and how each of them ended. In Spark's own package for its store. */
class ListedRunsSuite extends StreamingTest with ArchivedBatches {

  private def live: LatencyStore = LiveStore.of(spark.sparkContext)

  test("a run that has committed nothing is no earlier run") {
    val input = stream
    val failing = marked(input).writeStream.queryName("nothing_committed").foreachBatch {
      (batch: DataFrame, _: Long) =>
        batch.collect()
        throw new IllegalStateException("on purpose")
    }.start()
    input.addData(ago(1))
    failure(failing)
    assert(live.queries.exists(_.runId.contains(failing.runId.toString)))
    val next = start(marked(stream), "nothing_committed")
    try {
      val all = live.all
      assert(all.queries.filter(_.name == "nothing_committed").flatMap(_.runId) === Seq(next.runId.toString))
      assert(all.earlier.filter(_.query == "nothing_committed") === Nil)
    } finally next.stop()
  }

  /** What is listed, and the earlier runs, of a History Server that was told this. */
  private def listed(events: SparkListenerEvent*): (Set[String], Seq[String]) = {
    val kv = new InMemoryStore
    val archive = new BatchArchive(kv, kept = 3, used = true)
    events.foreach(archive.onOtherEvent)
    val all = shown(kv).all
    (all.queries.flatMap(_.runId).toSet, all.earlier.flatMap(_.runId))
  }

  test(
    "queries of two sessions that have one name do not hide one another, in whatever order they begin and end"
  ) {
    val Seq(one, other, next) = Seq.fill(3)(UUID.randomUUID): @unchecked
    def starts(run: UUID) = QueryEvents.started(UUID.randomUUID, run, "q")
    def tells(run: UUID) = batch(run.toString, 0)
    val both = Set(one, other).map(_.toString) -> Nil
    assert(listed(starts(one), tells(one), starts(other)) === both)
    assert(listed(starts(one), starts(other), tells(one)) === both)
    assert(listed(starts(one), starts(other), tells(other)) === both)
    assert(
      listed(starts(one), tells(one), starts(other), end(one)) === both,
      "one that failed shows that it did"
    )
    assert(listed(starts(one), starts(other), end(one)) === both)
    assert(listed(starts(one), starts(other), tells(other), end(one), end(other)) === both)
    val kv = new InMemoryStore
    val archive = new BatchArchive(kv, kept = 3, used = true)
    Seq(starts(one), starts(other), tells(other)).foreach(archive.onOtherEvent)
    assert(shown(kv).query("q").flatMap(_.runId) === Some(other.toString), "the newest")
    val followed =
      listed(starts(one), tells(one), starts(other), end(one), starts(next))
    assert(followed === Set(other, next).map(_.toString) -> Seq(one.toString))
  }

  test("what a run measured last leaves the window also when the driver has only stored it") {
    val kv = new InMemoryStore
    new BatchArchive(kv, kept = 3).onOtherEvent(batch("run", 0, records = 3))
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    def seen(store: LatencyStore) =
      store.query("run").map(run => (run.isSilent, run.latest.map(_(Measure.E2ELatency).count)))
    for ((ms, isSilent) <- Seq(59999L -> false, 60000L -> true)) {
      clock.set(Committed + ms)
      assert(seen(new LatencyStore(kv, Some(runs))) === Some((isSilent, Seq(3))))
      assert(seen(shown(kv)) === Some((false, Seq(3))), "in a History Server no time passes")
    }
    // Where no batch ends, the last figures of a run that has ended stay as they were.
    val endless = batch("endless", 0, records = 3)
    new BatchArchive(
      kv,
      kept = 3
    ).onOtherEvent(endless.copy(windows = StoredWindows(LastWindows(None, Map.empty))))
    assert(new LatencyStore(kv, Some(runs)).query("endless").map(_.isSilent) === Some(false))
  }

  test("all queries are the newest run of each, and the others are its earlier runs, newest first") {
    val (kv, runs) = (new InMemoryStore, Seq.fill(4)(UUID.randomUUID))
    val stored = new BatchArchive(kv, kept = 3)
    for ((run, n) <- runs.zipWithIndex) {
      val name = if (n == 1) "other" else "q"
      stored.onOtherEvent(batch(run.toString, n.toLong).copy(query = name))
    }
    stored.onOtherEvent(end(runs.head))
    val all = shown(kv)
    assert(all.queries.map(query => query.name -> query.runId.get) ===
      Seq("q" -> runs(3).toString, "other" -> runs(1).toString))
    assert(all.queryNames === Seq("q", "other"))
    assert(all.all.earlier === Seq(
      EarlierRun("q", Some("id"), Some(runs(2).toString), None, 1, Committed + 2),
      EarlierRun("q", Some("id"), Some(runs.head.toString), Some(RunStatus.Failed), 1, Committed)
    ))
    assert(all.query(runs.head.toString).flatMap(_.runId) === Some(runs.head.toString))
  }

  test("the newest run of a query is the one that was told of last, also after the clock was set back") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3)
    stored.onOtherEvent(batch("before", 2000))
    stored.onOtherEvent(batch("between", 1000))
    stored.onOtherEvent(batch("set-back", 1))
    stored.onOtherEvent(batch("between", 1001))
    val all = shown(kv)
    assert(all.queries.map(_.runId.get) === Seq("between"))
    assert(all.all.earlier.map(_.runId.get) === Seq("set-back", "before"))
    assert(all.query("q").flatMap(_.runId) === Some("between"))
  }

  test("a run has failed though its first batch is told after its end") {
    val (kv, runs) = (new InMemoryStore, Seq.fill(BatchArchive.RunsKept + 1)(UUID.randomUUID))
    val stored = new BatchArchive(kv, kept = 3)
    stored.onOtherEvent(end(runs.head))
    stored.onOtherEvent(batch(runs.head.toString, 0))
    runs.tail.foreach(run => stored.onOtherEvent(end(run)))
    val all = shown(kv)
    assert(all.query(runs.head.toString).flatMap(all.answer(_).status) === Some(RunStatus.Failed))
  }

  test("Prometheus is told of a log in which an error ended the newest run of a query, and of no other") {
    val (kv, runs) = (new InMemoryStore, Seq.fill(4)(UUID.randomUUID))
    val stored = new BatchArchive(kv, kept = 3, used = true)
    for ((name, run) <- Seq("again", "again", "once", "goes on").zip(runs)) {
      stored.onOtherEvent(batch(run.toString, 0).copy(query = name))
      if (name != "goes on") stored.onOtherEvent(end(run))
    }
    stored.onOtherEvent(batch(UUID.randomUUID.toString, 0).copy(query = "again"))
    val unmarked = UUID.randomUUID
    stored.onOtherEvent(QueryEvents.started(unmarked, unmarked, "unmarked"))
    stored.onOtherEvent(end(unmarked))
    val all = shown(kv)
    val failed = PrometheusText("app", all.queries.map(all.answer), None).text.linesIterator
      .filter(_.startsWith("sparklatency_query_failed")).toSeq
    assert(failed === Seq("once", "unmarked").map(query =>
      s"""sparklatency_query_failed{app="app",query="$query"} 1.0"""
    ))
  }

  test("of an error its first line is told, of a traceback of Python's what it ends in") {
    def told(error: String): Option[String] = {
      val (kv, run) = (new InMemoryStore, UUID.randomUUID)
      val stored = new BatchArchive(kv, kept = 3)
      stored.onOtherEvent(batch(run.toString, 0))
      stored.onOtherEvent(end(run, error))
      val all = shown(kv)
      all.query(run.toString).flatMap(all.answer(_).progress.error)
    }
    val traceback = "py4j.Py4JException: Return Message: Traceback (most recent call last):"
    assert(told("SparkException: first\n\tat second") === Some("SparkException: first"))
    assert(told(traceback + "\n  File \"a.py\", line 1\n    raise\nValueError: no rights\n\n\tat py4j") ===
      Some("ValueError: no rights"))
    assert(told(s"$traceback\n\tat py4j") === Some(traceback))
    // Of a function of Python's the first line ends with a colon. What went wrong is the last line of the traceback behind it.
    val worker =
      "pyspark.errors.exceptions.captured.PythonException: An exception was thrown from the Python worker:"
    val ofWorker =
      "Traceback (most recent call last):\n  File \"worker.py\", line 1, in main\n    process()\n" +
        "  File \"u.py\", line 3, in u\nValueError: no rights\n"
    assert(told(traceback + "\n  File \"a.py\", line 1\n    raise\n" + s"$worker\n$ofWorker\n\tat py4j") ===
      Some(s"$worker ValueError: no rights"))
    val inJvm = "org.apache.spark.api.python.PythonException: An exception was thrown from the Python worker:"
    assert(told(s"$inJvm\n$ofWorker\n\tat org.apache") === Some(s"$inJvm ValueError: no rights"))
    assert(told(s"$inJvm\n\tat org.apache") === Some(inJvm))
    // Both have their place, however long they are.
    val long =
      told(inJvm.init + "x" * 1000 + ":\n" + ofWorker.replace("no rights", "y" * 1000) + "\n\tat org.apache")
    assert(long.exists(text => text.length == 200 && text.startsWith(inJvm.init.take(70))))
    assert(long.exists(text => text.contains("… ValueError: yyy") && text.endsWith("yyy…")))
    // Of an error that came while another was handled the later one counts, and of its text the first line.
    val chained =
      s"$inJvm\n${ofWorker}\nDuring handling of the above exception, another exception occurred:\n\n" +
        s"${ofWorker.replace("ValueError: no rights", "KeyError: 'a'\nand more")}\n\tat org.apache"
    assert(told(chained) === Some(s"$inJvm KeyError: 'a'"))
  }

  test("a run that its application ended has finished") {
    val error =
      "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\nThis stopped ..."
    val ofSpark = "java.lang.NullPointerException: Cannot invoke \"DAGScheduler.cleanupQueryJobs\""
    for (
      (stops, error, status) <- Seq(
        (false, error, RunStatus.Finished),
        (true, ofSpark, RunStatus.Finished),
        (false, ofSpark, RunStatus.Failed)
      )
    ) {
      val (kv, run) = (new InMemoryStore, UUID.randomUUID)
      val stored = new BatchArchive(kv, kept = 3)
      stored.onOtherEvent(batch(run.toString, 0))
      if (stops) stored.onApplicationEnd(SparkListenerApplicationEnd(1))
      stored.onOtherEvent(end(run, error))
      val all = shown(kv)
      assert(all.query(run.toString).flatMap(all.answer(_).status) === Some(status), error)
    }
  }
}
