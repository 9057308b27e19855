package org.apache.spark.sql.latency

import java.util.UUID
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Measure
import org.apache.spark.scheduler.SparkListenerEnvironmentUpdate
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.StoredBatch
import org.apache.spark.sql.latency.history.StoredEnd
import org.apache.spark.sql.latency.history.StoredRun
import org.apache.spark.sql.latency.history.StoredStart
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.util.kvstore.InMemoryStore
import org.scalatest.funsuite.AnyFunSuite

/** What the archive forgets: batches and runs beyond the limits. In Spark's package for what only ours may call. */
class ForgottenRunsSuite extends AnyFunSuite with ArchivedBatches {
  private val store = new InMemoryStore
  private val archive = new BatchArchive(store, kept = 3)

  private def run(name: String): UUID = UUID.nameUUIDFromBytes(name.getBytes)

  /** A run that has so many batches, and ends. */
  private def wholeRun(archive: BatchArchive, name: String, numbers: Iterable[Long]): Unit = {
    for (n <- numbers) archive.onOtherEvent(batch(run(name).toString, n).copy(query = name))
    archive.onOtherEvent(end(run(name)))
  }

  /** One query whose runs are more than are kept. */
  private def runsAgain(archive: BatchArchive): Unit = for (n <- 1 to BatchArchive.RunsKept + 10) {
    archive.onOtherEvent(batch(run(s"run-$n").toString, n.toLong).copy(query = "again"))
    archive.onOtherEvent(end(run(s"run-$n")))
  }

  /** Whatever Spark's store holds: by the class of what is stored and the name of its field, how many there are. */
  private def held: Map[(Class[_], String), Int] = heldBy(store)

  private def heldBy(store: InMemoryStore): Map[(Class[_], String), Int] = {
    def field(of: AnyRef, name: String) = {
      val found = of.getClass.getDeclaredField(name)
      found.setAccessible(true)
      found.get(of)
    }
    val lists = field(field(store, "inMemoryLists"), "data").asInstanceOf[JMap[Class[_], AnyRef]].asScala
    for ((stored, list) <- lists.toMap; name <- Seq("data", "parentToChildrenMap"))
      yield ((stored, name): (Class[_], String)) -> field(list, name).asInstanceOf[JMap[_, _]].size
  }

  test("of runs beyond the limit the store of a driver keeps nothing, not even that they were") {
    for (run <- 1 to 300) wholeRun(archive, s"query-$run", 0L to 4L)
    val batch = classOf[StoredBatch]: Class[_]
    // Ten times as many batches as each run may have are kept, of the newest runs.
    assert(held((classOf[StoredRun], "data")) === held((batch, "parentToChildrenMap")))
    assert(held((batch, "data")) <= 3 * held((batch, "parentToChildrenMap")))
    assert(held((batch, "parentToChildrenMap")) <= 11)
    assert(held((classOf[StoredEnd], "data")) <= 11)
  }

  test("the first batch of a run reads none of the others from the store") {
    var asked = Seq.empty[AnyRef]
    val kv = new InMemoryStore {
      override def read[A](of: Class[A], key: AnyRef): A = {
        if (of == classOf[StoredRun]) asked :+= key
        super.read(of, key)
      }
    }
    val stored = new BatchArchive(kv, kept = 3)
    for (name <- Seq("first", "second", "third")) wholeRun(stored, name, 0L to 4L)
    asked = Nil
    wholeRun(stored, "fourth", Seq(0L))
    assert(asked.distinct === Seq(run("fourth").toString))
  }

  test("something of each class is left, or a hybrid store would not go to disk") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3, used = true)
    for (name <- Seq("first", "second")) {
      stored.onOtherEvent(QueryEvents.started(run("id"), run(name), "q"))
      if (name == "first") {
        stored.onOtherEvent(SparkListenerLatencyNote(run(name).toString, "left-out", "info", "No node."))
        stored.onOtherEvent(end(run(name)))
      }
    }
    stored.onOtherEvent(batch(run("second").toString, 0))
    val left = heldBy(kv).collect { case ((of, "data"), size) => of.getSimpleName -> size }
    assert(left.keySet === Set("StoredStart", "StoredEnd", "StoredNotes", "StoredBatch", "StoredRun"))
    assert(left.values.forall(_ == 1), left)
    assert(shown(kv).queries.map(_.runId) === Seq(Some(run("second").toString)))
  }

  test("of a run so many batches are kept, and the counts of all") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3)
    (0L until 10L).foreach(n => stored.onOtherEvent(batch("run", n)))
    val query = shown(kv).query("run").get
    assert((query.batches, query.nodes.head.measures(Measure.E2ELatency).total.records) === ((10, 10)))
    assert(shown(kv).history(query).map(_.batch) === Seq(7, 8, 9))
    assert(shown(kv).history(query, limit = 2).map(_.batch) === Seq(8, 9))
  }

  test("of so many runs the oldest go, with their batches") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50)
    val names = (0 to BatchArchive.RunsKept + 1).map(n => s"run-$n")
    for ((name, n) <- names.zipWithIndex) wholeRun(stored, name, n * 5L until n * 5L + 5)
    wholeRun(stored, "last", Seq(1000L))
    val all = shown(kv)
    assert(all.queries.flatMap(_.runId) === ("last" +: names.drop(2).reverse).map(run(_).toString))
    assert(kv.count(classOf[StoredBatch]) === BatchArchive.RunsKept * 5 + 1)
  }

  test("a run that begins after the clock was set back is no oldest run") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50)
    for (n <- 1 to BatchArchive.RunsKept + 1) wholeRun(stored, s"run-$n", Seq(1000L + n))
    wholeRun(stored, "set-back", Seq(1L))
    wholeRun(stored, "last", Seq(1100L))
    val all = shown(kv)
    assert(all.query("set-back").exists(all.history(_).size === 1))
    assert(all.query("run-3").nonEmpty && all.query("run-2") === None)
  }

  test("of all runs no more than ten times the batches of one are kept, beside the newest") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3)
    for (n <- 0 until 20) wholeRun(stored, s"run-$n", n * 5L until n * 5L + 5)
    assert(kv.count(classOf[StoredBatch]) <= 33 && kv.count(classOf[StoredRun]) <= 11)
    assert(shown(kv).query("run-19").map(shown(kv).history(_).size) === Some(3))
  }

  test("a run that goes on counts all its batches and keeps the last, however many others go on or end") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 20)
    val names = (1 to BatchArchive.RunsKept + 20).map(n => s"run-$n")
    for (n <- 0L until 30; name <- names) stored.onOtherEvent(batch(run(name).toString, n).copy(query = name))
    for (n <- 1 to BatchArchive.RunsKept + 20) wholeRun(stored, s"ends-$n", Seq(100L))
    val all = shown(kv)
    val going = all.queries.filter(query => names.contains(query.name))
    assert(going.size === names.size && going.forall(_.batches == 30))
    assert(going.forall(_.nodes.head.measures(Measure.E2ELatency).total.records == 30))
    assert(going.forall(all.history(_).map(_.batch) == Seq(29)), "120 runs have 200 batches together")
    for (name <- names.drop(10)) stored.onOtherEvent(end(run(name)))
    for (n <- 30L until 60) stored.onOtherEvent(batch(run("run-1").toString, n).copy(query = "run-1"))
    assert(shown(kv).query("run-1").map(shown(kv).history(_).map(_.batch)) === Some(40L until 60L))
  }

  test("a query without a batch is listed as long as it goes on, however many others do") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50, used = true)
    val names = (1 to BatchArchive.RunsKept + 20).map(n => s"query-$n")
    def starts(name: String) = stored.onOtherEvent(QueryEvents.started(run(s"id of $name"), run(name), name))
    names.foreach(starts)
    for (n <- 1 to BatchArchive.RunsKept + 1) {
      starts(s"failed-$n")
      stored.onOtherEvent(end(run(s"failed-$n")))
    }
    val listed = shown(kv).queries.map(_.name).toSet
    assert(names.filterNot(listed) === Nil)
    assert((listed -- names).size === BatchArchive.RunsKept)
    assert(kv.count(classOf[StoredStart]) === names.size + BatchArchive.RunsKept)
  }

  test("a query that fails again and again does not drive out how another one ended") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50, used = true)
    def fails(query: UUID, name: String) = {
      val run = UUID.randomUUID
      stored.onOtherEvent(QueryEvents.started(query, run, name))
      stored.onOtherEvent(new QueryTerminatedEvent(query, run, Some(s"$name failed"), None))
    }
    fails(UUID.randomUUID, "once")
    val again = UUID.randomUUID
    (0 to BatchArchive.RunsKept).foreach(_ => fails(again, "again"))
    for (name <- Seq("once", "again"))
      assert(shown(kv).query(name).map(shown(kv).answer(_).headline.text) ===
        Some(s"An error ended this run: $name failed"))
    assert(kv.count(classOf[StoredEnd]) === 2)
  }

  test("a run that had no batch for long is the newest when it ends") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50)
    stored.onOtherEvent(batch(run("silent").toString, 0).copy(query = "silent"))
    for (n <- 1 to BatchArchive.RunsKept) wholeRun(stored, s"run-$n", Seq(n.toLong))
    stored.onOtherEvent(end(run("silent")))
    wholeRun(stored, "last", Seq(1000L))
    assert(shown(kv).query("silent").flatMap(shown(kv).answer(_).status) === Some(RunStatus.Failed))
  }

  test("a query that runs again and again does not drive out the error that ended another one") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50)
    wholeRun(stored, "once", Seq(0L))
    runsAgain(stored)
    assert(shown(kv).query("once").flatMap(shown(kv).answer(_).status) === Some(RunStatus.Failed))
    assert(kv.count(classOf[StoredRun]) === BatchArchive.RunsKept + 1, "the last began beside so many")
  }

  test("nor does it where the run's first batch is told behind its end") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50, used = true)
    stored.onOtherEvent(QueryEvents.started(run("id"), run("once"), "once"))
    stored.onOtherEvent(end(run("once")))
    stored.onOtherEvent(batch(run("once").toString, 0).copy(query = "once"))
    runsAgain(stored)
    assert(shown(kv).query("once").flatMap(shown(kv).answer(_).status) === Some(RunStatus.Failed))
  }

  test("the run before the last is kept, however many other queries have ended well") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50)
    def endsWell(name: String, query: String) = {
      stored.onOtherEvent(batch(run(name).toString, 0).copy(query = query))
      stored.onOtherEvent(new QueryTerminatedEvent(run("id"), run(name), None, None))
    }
    for (n <- 1 to BatchArchive.RunsKept) endsWell(s"other-$n", s"other-$n")
    endsWell("first", "again")
    endsWell("second", "again")
    assert(shown(kv).all.earlier.flatMap(_.runId) === Seq(run("first").toString))
  }

  test("a run that failed before its first batch gives way to the next run of its name") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 50, used = true)
    def start(name: String): UUID = {
      val run = UUID.randomUUID
      val id = UUID.randomUUID // without a checkpoint each start has one of its own
      stored.onOtherEvent(QueryEvents.started(id, run, name))
      run
    }
    def listed = shown(kv).queries.flatMap(_.runId).toSet
    val (failed, other) = (start("orders"), start("other"))
    for (run <- Seq(failed, other)) stored.onOtherEvent(end(run))
    val running = start("orders")
    assert(listed === Set(running.toString, other.toString))
    assert(shown(kv).query("orders").flatMap(_.runId) === Some(running.toString))
    // Another session may have a query of that name.
    val beside = start("orders")
    assert(listed === Set(running, beside, other).map(_.toString))
    assert(shown(kv).query("orders").flatMap(_.runId) === Some(beside.toString))
    stored.onOtherEvent(batch(running.toString, 0).copy(query = "orders"))
    stored.onOtherEvent(batch(beside.toString, 1).copy(query = "orders"))
    stored.onOtherEvent(end(beside))
    assert(listed === Set(beside.toString, other.toString))
    assert(shown(kv).all.earlier.flatMap(_.runId) === Seq(running.toString))
  }

  test("a run whose first batch is told behind the start of its next run has ended all the same") {
    val kv = new InMemoryStore
    val stored = new BatchArchive(kv, kept = 3, used = true)
    val (query, runs) = (UUID.randomUUID, Vector.fill(BatchArchive.RunsKept)(UUID.randomUUID))
    stored.onOtherEvent(QueryEvents.started(query, runs.head, "orders"))
    for ((before, next) <- runs.zip(runs.tail)) {
      stored.onOtherEvent(end(before))
      stored.onOtherEvent(QueryEvents.started(query, next, "orders"))
      stored.onOtherEvent(batch(before.toString, 0).copy(query = "orders"))
    }
    assert(shown(kv).all.earlier.map(_.status).distinct === Seq(Some(RunStatus.Failed)))
    assert(kv.count(classOf[StoredRun]) === 30, "so many batches are kept of what has ended")
    assert(kv.count(classOf[StoredEnd]) === 30)
  }

  test("of an event log a run without a batch shows if the application's settings have the plugin") {
    val plugin = "io.sparklatency.LatencyPlugin"
    val shows = Seq(
      Seq("spark.plugins" -> plugin) -> true,
      Seq("spark.plugins" -> s"com.example.Other,$plugin") -> true,
      Seq("spark.plugins" -> "com.example.Other") -> false,
      Seq("spark.sql.extensions" -> "org.apache.spark.sql.latency.application.LatencyExtensions") -> false,
      Nil -> false
    )
    for ((settings, isShown) <- shows) {
      val kv = new InMemoryStore
      val stored = new BatchArchive(kv, kept = 50)
      stored.onEnvironmentUpdate(SparkListenerEnvironmentUpdate(Map("Spark Properties" -> settings)))
      val (query, run) = (UUID.randomUUID, UUID.randomUUID)
      stored.onOtherEvent(QueryEvents.started(query, run, "fails"))
      stored.onOtherEvent(new QueryTerminatedEvent(query, run, Some("at once"), None))
      val said = shown(kv).query("fails").map(shown(kv).answer(_).headline.text)
      assert(said === Option.when(isShown)("An error ended this run: at once"), settings)
    }
  }

  test("how a run ended is known as long as the run is, though many end that nothing else is known of") {
    val (kv, runs) = (new InMemoryStore, Seq.fill(BatchArchive.RunsKept + 1)(UUID.randomUUID))
    val stored = new BatchArchive(kv, kept = 50)
    def status =
      shown(kv).query(runs.head.toString).flatMap(shown(kv).answer(_).status)
    stored.onOtherEvent(batch(runs.head.toString, 0))
    assert(status === None)
    runs.foreach(run => stored.onOtherEvent(end(run)))
    stored.onOtherEvent(batch(runs.head.toString, 1))
    assert(status === Some(RunStatus.Failed))
    for (_ <- 1 to 5) stored.onOtherEvent(end(UUID.randomUUID))
    assert(status === Some(RunStatus.Failed) && kv.count(classOf[StoredEnd]) === BatchArchive.RunsKept + 1)
    for (run <- runs.tail) stored.onOtherEvent(batch(run.toString, 2))
    for (n <- 1 to 6) wholeRun(stored, s"later-$n", Seq(3L))
    assert(status === None && kv.count(classOf[StoredEnd]) === BatchArchive.RunsKept + 6)
  }
}
