package io.sparklatency

import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.RunFigures
import io.sparklatency.figures.TaskId
import io.sparklatency.figures.TaskPlace
import io.sparklatency.figures.WindowSettings
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** What running tasks have published, and what stands of it when they, their execution or their query has ended. */
class LiveRunsSuite extends AnyFunSuite {
  import LiveRunsSuite._

  private val clock = new ManualClock(1000)

  private def owner(node: String = "sink", run: String = "run") =
    MarkOwner(NodeKey("orders", node), Some("id"), Some(run))

  private def runs(
      settings: FiguresSettings = FiguresSettings(),
      shown: FiguresListener = FiguresListener.Nowhere
  ) = new LiveRuns(clock, settings, shown)(_.stopped)

  /** So many records. */
  private def part(planning: Long, task: Long, records: Int, endless: Boolean = false): PublishedPart = {
    val summary = Aged.records(Seq.fill(records)(5L): _*)
    PublishedPart(
      owner(),
      ReadingId(planning, task, number = 0, task.toInt),
      endless,
      summary,
      oldestMs = None
    )
  }

  private def records(of: LiveRuns): Long =
    of.snapshot().flatMap(_.nodes).map(_.measures(Measure.E2ELatency).total.records).sum

  test("of a task that failed nothing stands, and of one that ended well all that it published") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2))
    all.publish(part(planning = 1, task = 2, records = 3))
    assert(records(all) === 5)
    all.taskEnded(1, stage = 0, hasFailed = true)
    assert(records(all) === 3)
    all.taskEnded(2, stage = 0, hasFailed = false)
    assert(records(all) === 3)
  }

  test(
    "where nobody tells what has ended, what goes on stays, however much else does, and what is silent goes"
  ) {
    val all = new LiveRuns(clock, FiguresSettings(maxNodes = 3), FiguresListener.Nowhere)(_ => true)
    def add(query: Int): Unit = {
      val owner = MarkOwner(NodeKey(s"query-$query", "sink"), Some(s"id-$query"), Some(s"run-$query"))
      all.ofTask(owner, planning = query.toLong)(_.add("sink", Measure.E2ELatency, Aged.records(5)))
    }
    def shown = all.snapshot().map(run =>
      run.name -> run.nodes.map(node => node.id -> node.measures(Measure.E2ELatency).total.records)
    )
    for (_ <- 1 to 3; query <- 1 to 4) add(query)
    val (room, none) = (Seq("sink" -> 3L), Seq(RunFigures.Other -> 3L))
    assert(shown === Seq("query-1" -> room, "query-2" -> room, "query-3" -> room, "query-4" -> none))
    clock.advance(59999)
    Seq(2, 3, 4).foreach(add)
    clock.advance(1)
    add(5)
    assert(shown.map(_._1) === Seq("query-2", "query-3", "query-4", "query-5"))
    for (query <- 100 to 300) add(query)
    assert(shown.size === 205)
  }

  test("what comes from a task that has ended is too late") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2))
    all.taskEnded(1, stage = 0, hasFailed = false)
    all.publish(part(planning = 1, task = 1, records = 3))
    assert(records(all) === 2)
  }

  test("what an execution did not add falls with its end, and what comes of it later is too late") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2))
    all.executionEnded(Set(1))
    assert(records(all) === 0)
    all.publish(part(planning = 1, task = 2, records = 3))
    assert(records(all) === 0)
    all.publish(part(planning = 2, task = 3, records = 4))
    assert(records(all) === 4)
  }

  test("of two plannings of a node the one shows that has read most, and all where each will count") {
    def shown(of: MarkOwner, other: MarkOwner, intakes: Seq[Int] = Seq(0, 0), maxNodes: Int = 100): Long = {
      val all = runs(FiguresSettings(maxNodes = maxNodes))
      for ((owner, planning, records) <- Seq((of, 1L, 2), (other, 2L, 3)))
        all.publish(part(planning, task = planning, records).copy(
          owner = owner,
          intake = intakes(planning.toInt - 1)
        ))
      all.snapshot().flatMap(_.nodes).flatMap(_.measures.values).map(_.total.records).sum
    }
    assert(shown(owner(), owner()) === 3) // two actions on one batch
    val ofBatchQuery = MarkOwner(NodeKey("__batch__", "sink"), None, None)
    assert(shown(ofBatchQuery, ofBatchQuery) === 5)
    assert(shown(owner(), owner(), intakes = Seq(0, 1)) === 5) // both ways into a join
    assert(shown(owner("one"), owner("two"), maxNodes = 0) === 5) // as one node
  }

  test("a run of which nobody told the end gives way to the next of its query, which alone is read") {
    var shown = Map.empty[String, () => Option[QuerySnapshot]]
    val listener = new FiguresListener {
      override def addedQuery(query: String, brief: () => Option[QuerySnapshot]): Unit =
        shown += query -> brief
      override def removed(query: String): Unit = shown -= query
    }
    def begun(run: String) = Some(QuerySnapshot("orders", Some("id"), Some(run), 0, Nil, 0, None))
    val all = new LiveRuns(clock, FiguresSettings(), listener, begunAs = begun)(_.stopped)
    def read = shown.map { case (name, brief) => name -> brief().flatMap(_.runId) }
    for (run <- Seq("first", "second")) {
      all.began("orders", run, "id")
      assert(read === Map("orders" -> Some(run)))
    }
    all.began("orders", "of another session", "other")
    assert(read === Map("orders" -> Some("second")))
  }

  test("the oldest record that is not committed is looked for outside the lock") {
    var read = Seq.empty[() => Option[QuerySnapshot]]
    val listener = new FiguresListener {
      override def addedQuery(query: String, brief: () => Option[QuerySnapshot]): Unit = read :+= brief
    }
    lazy val all: LiveRuns = new LiveRuns(
      clock,
      FiguresSettings(),
      listener,
      uncommitted = _ => {
        assert(!Thread.holdsLock(all))
        Some(clock.millis() - 600)
      }
    )(_.stopped)
    all.publish(part(planning = 1, task = 1, records = 2))
    assert((all.snapshot() ++ read.flatMap(_())).map(_.oldestUncommittedMs) === Seq(Some(600), Some(600)))
  }

  private def planned(node: String, upstream: String*) = PlannedNode(owner(node), upstream.toSet, 1)

  private def next(node: String, upstream: String*) =
    planned(node, upstream: _*).copy(owner = owner(node, "next"))

  test("the way of records is that of the plan before its first batch has ended") {
    val all = runs()
    all.planned(Seq(planned("source"), planned("scored", "source"), planned("sink", "scored")))
    assert(all.snapshot().map(query => (query.name, query.nodes)) === Seq(("orders", Nil)))
    for (node <- Seq("sink", "source", "scored")) {
      val reading = ReadingId(1, 1, number = 0, partition = 0)
      all.publish(PublishedPart(owner(node), reading, endless = false, Aged.records(5), oldestMs = None))
    }
    assert(all.snapshot().head.nodes.map(node => node.id -> node.upstream) ===
      Seq("source" -> Nil, "scored" -> Seq("source"), "sink" -> Seq("scored")))
  }

  test("who plans does not wait until a batch has been added up, and what is planned shows then") {
    val all = runs()
    all.update(owner()) { _ =>
      val planning = new Thread(() => all.planned(Seq(planned("source"), planned("sink", "source"))))
      planning.start()
      planning.join(60000)
      assert(!planning.isAlive)
    }
    for (node <- Seq("sink", "source"))
      all.publish(PublishedPart(owner(node), ReadingId(1, 1, 0, 0), endless = false, Aged.records(5), None))
    assert(all.snapshot().head.nodes.map(_.id) === Seq("source", "sink"))
  }

  test("of two runs that were planned meanwhile the later one is shown") {
    val all = runs()
    all.update(owner("sink", "first"))(_ =>
      Seq("first", "second", "third").foreach(run =>
        all.planned(Seq(PlannedNode(owner("sink", run), Set.empty, 1)))
      )
    )
    assert(all.snapshot().map(_.runId) === Seq(Some("third")))
  }

  test("a run that has ended keeps no figures of tasks, which nobody can ask for") {
    val all = runs(FiguresSettings(granularity = Granularity.Subtask))
    all.update(owner())(_.add(
      "sink",
      Measure.E2ELatency,
      Aged.records(5),
      Some(TaskPlace(TaskId(0, 0), isLast = true))
    ))
    def tasks = all.update(owner())(_.taskCount)
    assert(tasks === 2)
    all.stopped("run")
    assert(tasks === 0)
    assert(records(all) === 1)
  }

  test("where only the last nodes are shown, those that a plan has others behind are not") {
    val all = runs(FiguresSettings(granularity = Granularity.Single))
    all.planned(Seq(planned("source"), planned("sink", "source")))
    for (node <- Seq("source", "sink"))
      all.publish(PublishedPart(owner(node), ReadingId(1, 1, 0, 0), endless = true, Aged.records(5), None))
    assert(all.snapshot().flatMap(_.nodes).map(_.id) === Seq("sink"))
  }

  test("a plan outside a query, and of a run that has ended, is not shown") {
    val all = runs()
    all.planned(Seq(PlannedNode(MarkOwner(NodeKey("__batch__", "node"), None, None), Set.empty, 1)))
    all.stopped("run")
    all.planned(Seq(planned("sink")))
    assert(all.snapshot() === Nil)
  }

  test("what comes of a run that has ended is too late") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2))
    all.stopped("run")
    all.publish(part(planning = 2, task = 2, records = 3))
    assert(records(all) === 2)
  }

  test("a run whose end is told after the next one began has its last batch, and leaves the next one alone") {
    val shown = new Shown
    val all = runs(shown = shown)
    all.planned(Seq(planned("source"), planned("sink", "source")))
    all.planned(Seq(next("source"), next("sink", "source")))
    all.update(owner("sink", "next"))(_.add("sink", Measure.E2ELatency, Aged.records(5)))

    val late = all.update(owner()) { run =>
      run.add("sink", Measure.E2ELatency, Aged.records(1, 2))
      run.batch(7).committed(1000)
      run.commit(7)(identity)
    }
    assert(late.map(batch => (batch.runId, batch.batch)) === Some((Some("run"), 7)))
    assert(all.ofRun("run")(_.runId) === Some(Some("run")))
    all.stopped("run")
    assert(all.ofRun("run")(_.runId) === None)
    assert(all.snapshot().map(query => (query.runId, query.nodes.map(node => node.id -> node.upstream))) ===
      Seq((Some("next"), Seq("sink" -> Seq("source")))))
    assert(records(all) === 1)
    assert(shown.told === Seq("a run", "its end", "a run", "sink"))
  }

  test("what failed in a run that another has replaced does not stand") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2))
    all.planned(Seq(next("sink")))
    def published = all.ofRun("run")(_.snapshot(0).nodes.map(_.measures(Measure.E2ELatency).total.records))
    assert(published === Some(Seq(2)))
    all.taskEnded(1, stage = 0, hasFailed = true)
    assert(published === Some(Seq(0)))
    all.close()
    assert(published === None)
  }

  test("a run that had ended goes when the next one begins") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2))
    all.stopped("run")
    assert(all.ofRun("run")(_.stopped) === Some(true))
    all.planned(Seq(next("sink")))
    assert(all.ofRun("run")(_.stopped) === None)
  }

  test("a task without end outlives its planning, and its counts stand however it ended") {
    val all = runs()
    all.publish(part(planning = 1, task = 1, records = 2, endless = true))
    all.executionEnded(Set(1))
    all.publish(part(planning = 1, task = 1, records = 3, endless = true))
    assert(records(all) === 5)
    all.taskEnded(1, stage = 0, hasFailed = true)
    assert(records(all) === 5)
  }

  test("the nodes of a query forget together, whatever came to each") {
    val all = runs(FiguresSettings(WindowSettings(samples = 2, sampleMs = 1000)))
    def add(atMs: Long, age: Long, nodes: String*): Unit = {
      clock.set(atMs)
      for (node <- nodes) all.update(owner(node))(_.add(node, Measure.E2ELatency, Aged.records(age)))
    }
    def greatest: Seq[Option[Long]] =
      all.snapshot().head.nodes.map(_.measures(Measure.E2ELatency).window.max)
    add(0, 1, "source")
    add(600, 500, "source", "sink")
    for (at <- 1000L to 3400L by 200) {
      add(at, 7, "source", "sink")
      assert(greatest.distinct.size === 1, s"at $at")
    }
    assert(greatest === Seq(Some(7), Some(7)))
  }
}

private object LiveRunsSuite {

  /** What it is told, in order. */
  private final class Shown extends FiguresListener {
    var told = Vector.empty[String]
    override def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit = told :+= key.node
    override def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit = ()
    override def addedOperator(key: NodeKey, latency: OperatorLatency): Unit = ()
    override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = told :+= "a run"
    override def removed(query: String): Unit =
      told :+= "its end"
  }
}
