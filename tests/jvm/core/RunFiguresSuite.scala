package io.sparklatency

import scala.collection.mutable

import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeTimestamp
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.WorkSource
import io.sparklatency.time.ClockOffset
import org.scalatest.funsuite.AnyFunSuite

/** What the driver keeps of a batch, by granularity and up to a limit. */
class RunFiguresSuite extends AnyFunSuite with MarksOfRun {

  /** What is shown of a batch, and the beans of its tasks. */
  private def shown(settings: FiguresSettings)(marks: MarkReadings*): (QuerySnapshot, Set[String]) = {
    val tasks = new Tasks
    val runs = new LiveRuns(clock, settings, tasks)(_.stopped)
    runs.update(owner("any"))(query => query.add(marks, query.batch(0), _ => None))
    (runs.snapshot().head, tasks.shown)
  }

  private def counts(snapshot: QuerySnapshot): Seq[(String, Long)] =
    snapshot.nodes.map(node => node.id -> node.measures(Measure.E2ELatency).total.records)

  private def pipeline =
    Seq(mark("source", 0)(1, 2), mark("middle", 0, "source")(3, 4), mark("sink", 1, "middle")(5, 6, 7))

  test("at granularity single only the nodes show at which the query ends") {
    val (snapshot, beans) = shown(FiguresSettings(granularity = Granularity.Single))(pipeline: _*)
    assert(counts(snapshot) === Seq("sink" -> 3))
    assert(beans.isEmpty)
  }

  test("at granularity operator every node shows, with those upstream of it") {
    val (snapshot, beans) = shown(FiguresSettings())(pipeline: _*)
    assert(counts(snapshot) === Seq("source" -> 2, "middle" -> 2, "sink" -> 3))
    assert(snapshot.nodes.map(_.upstream) === Seq(Nil, Seq("source"), Seq("middle")))
    assert(beans.isEmpty)
  }

  test("at granularity subtask there is a bean for each node in each task, and for each task") {
    val (_, beans) = shown(FiguresSettings(granularity = Granularity.Subtask))(pipeline: _*)
    val nodes = Seq("0_0", "0_1").flatMap(task => Seq(s"$task source", s"$task middle", s"$task null"))
    val ends = Seq("1_0", "1_1", "1_2").flatMap(task => Seq(s"$task sink", s"$task null"))
    assert(beans === (nodes ++ ends).toSet)
  }

  test("of nodes too many to show, as those with another id in each batch, not all are known for ever") {
    val runs = new LiveRuns(clock, FiguresSettings(maxNodes = 2), FiguresListener.Nowhere)(_.stopped)
    val batches = 3000
    for (batch <- 0 until batches) {
      val marks = Seq(mark("end", 1, s"step-$batch")(1), mark(s"step-$batch", 0)(2))
      runs.update(owner("any"))(query => query.add(marks, query.batch(batch), _ => None))
    }
    val end = runs.snapshot().head.nodes.find(_.id == "end").get
    assert(end.upstream.size <= 2001)
    assert(end.upstream.contains(s"step-${batches - 1}"))
    assert(end.upstream.contains("step-0"), "it shows")
  }

  test("a plan that lacks the node before another does not know whether the two go by one timestamp") {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def isAnother(batch: Long, marks: MarkReadings*): Option[Boolean] = {
      runs.update(owner("any"))(query => query.add(marks, query.batch(batch), _ => None))
      runs.snapshot().head.nodes.find(_.id == "sink").flatMap(_.timestamp).map(_.isAnother)
    }
    def sink(isAnother: Boolean, upstream: String*) =
      mark("sink", 1, upstream: _*)(5).copy(timestamp = Some(NodeTimestamp("event_time", isAnother)))
    val source = mark("source", 0)(1)
    assert(isAnother(0, source, sink(isAnother = true, "source")) === Some(true))
    assert(isAnother(1, sink(isAnother = false)) === Some(true), "as of a batch without data")
    assert(isAnother(2, source, sink(isAnother = false, "source")) === Some(false))
    assert(isAnother(3, sink(isAnother = false)) === Some(false))
  }

  test("nodes beyond the limit are folded into one, and counted") {
    val (snapshot, _) = shown(FiguresSettings(maxNodes = 2))(
      (1 to 5).map(n => mark(s"node-$n", 0)(n.toLong)): _*
    )
    assert(counts(snapshot).toMap.values.sum === 5)
    assert(snapshot.nodes.size === 3 && snapshot.nodes.last.id === "__other__" && snapshot.folded === 3)
  }

  test("tasks beyond the limit are folded into one bean") {
    val ages = (1L to 9L).toSeq
    val (snapshot, beans) =
      shown(FiguresSettings(granularity = Granularity.Subtask, maxNodes = 4))(mark("only", 0)(ages: _*))
    assert(counts(snapshot) === Seq("only" -> 9))
    assert(beans.size === 6 && beans.count(_.startsWith("__other__")) === 2)
    assert(snapshot.folded === 14)
  }

  test("a batch is committed when its execution ended for the last time of which Spark has told") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val committed = runs.update(owner("any")) { query =>
      val batch = query.batch(0)
      query.add(pipeline, batch, _ => None)
      Seq(5L, 900L, 70L).foreach(ms => batch.committed(Start + ms))
      query.commit(0)(identity)
    }
    assert(committed.map(_.committedMs) === Some(Start + 900))
  }

  test("nodes show in the order of their plan, and those of other plans where they were") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    def batch(marks: MarkReadings*): Unit =
      runs.update(owner("any"))(query => query.add(marks, query.batch(0), _ => None))
    batch(mark("other", 0)(1))
    batch(mark("sink", 1)(1))
    batch(mark("last", 0)(1))
    batch(mark("source", 0)(1), mark("sink", 1, "source")(1))
    assert(runs.snapshot().head.nodes.map(_.id) === Seq("other", "source", "sink", "last"))
  }

  test("of what is planned in a batch and never runs, to explain it say, the newest thousand is kept") {
    val asked = mutable.Set.empty[Long]
    val source = new WorkSource {
      override def readings(planning: Long): Iterable[Reading] = { asked += planning; Nil }
      override def offset(executor: String): Option[ClockOffset] = None
    }
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks, work = source)(_.stopped)
    (1L to 3000L).foreach(planning => runs.planned(Seq(PlannedNode(owner("any"), Set.empty, planning))))
    runs.snapshot()
    assert(asked === (2001L to 3000L).toSet)
  }
}
