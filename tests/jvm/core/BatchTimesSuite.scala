package io.sparklatency

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.TaskSlice
import io.sparklatency.path.OperatorPath
import io.sparklatency.path.OperatorPath.Last
import io.sparklatency.path.OperatorPath.Node
import io.sparklatency.path.OperatorPath.Rest
import io.sparklatency.path.OperatorPath.Waiting
import io.sparklatency.time.ClockOffset
import org.scalatest.funsuite.AnyFunSuite

/** Who was at work for a batch, from what its tasks tell. Times are milliseconds. */
class BatchTimesSuite extends AnyFunSuite with TasksOfBatch {
  import TasksOfBatch._

  private def latencies(times: BatchTimes): Map[String, Option[Double]] =
    times.nodes.map(node => node.node -> node.latencyMs).toMap

  test(
    "Apex's vector: of two upstream operators that end at 1000 and 1500, one that ends at 1600 takes 100"
  ) {
    val all = times("o1" -> "o3", "o2" -> "o3")(
      At("o1", 1, 0, 1000, stage = 1),
      At("o2", 2, 0, 1500, stage = 2),
      At("o3", 3, 1500, 1600, stage = 3)
    )
    assert(latencies(all) === Map("o1" -> Some(0.0), "o2" -> Some(0.0), "o3" -> Some(100.0)))
    assert(all.nodes.map(node => node.node -> node.ewtMs) === Seq(
      "o1" -> 1000.0,
      "o2" -> 1500.0,
      "o3" -> 1600.0
    ))
  }

  test("Apex B1: an operator whose upstream ends are unknown has no latency, where Apex says -1") {
    assert(latencies(times("o1" -> "o3", "o2" -> "o3")(At("o3", 3, 0, 1600))) === Map("o3" -> None))
  }

  test(
    "Apex B9: of partitions that take 10 and 30 the slowest counts, and what unites them in 7 comes on top"
  ) {
    val all = times("a" -> "b", "b" -> "c")(
      At("a", 1, 0, 10),
      At("b", 1, 0, 10, waited = 10),
      At("a", 2, 0, 30),
      At("b", 2, 0, 30, waited = 30),
      At("c", 3, 30, 37, stage = 1)
    )
    assert(latencies(all) === Map("a" -> Some(0.0), "b" -> Some(30.0), "c" -> Some(7.0)))
    assert(partitions(all, "b").slowest.map(_.latencyMs) === Seq(Some(30.0), Some(10.0)))
    assert((new OperatorPath(all).nodes, new OperatorPath(all).latency) === ((Seq("a", "b", "c"), 37.0)))
  }

  test("a stage waits for its subqueries, though none of their records comes to it") {
    val apart = marks(Map.empty)(At("newest", 1, 0, 1000, stage = 1), At("newer", 2, 1000, 1100, stage = 2))
    val all = BatchTimes.of(7, apart.map(_.copy(aside = Set("newest"))), _ => Some(ClockOffset.Same)).get
    assert(all.stages.map(_.upstream) === Seq(Nil, Seq(0)))
    assert((
      new OperatorPath(all).nodes,
      new OperatorPath(all).latency
    ) === ((Seq("newest", "newer"), 1100.0)))
  }

  test("clocks are corrected: an end at 1600 that is 40 too early, behind one at 1500 that is 20 too late") {
    val offsets = Map("a" -> ClockOffset(-40000, 300), "b" -> ClockOffset(20000, 500))
    val marked = marks(Map("o2" -> Set("o1")))(
      At("o1", 1, 0, 1500, stage = 1, executor = "b"),
      At("o2", 2, 1440, 1600, stage = 2, executor = "a")
    )
    val all = BatchTimes.of(0, marked, offsets.get).get
    assert(latencies(all)("o2") === Some(160.0))
    assert(all.boundMs === Some(0.8), "at either end of a span")
    assert(BatchTimes.of(0, marked, offsets.removed("a").get).get.boundMs === None)
  }

  test("an end before that of the operator upstream, through clocks that differ, takes nothing") {
    val all = times("o1" -> "o2")(At("o1", 1, 0, 1600, stage = 1), At("o2", 2, 100, 1500, stage = 2))
    assert(latencies(all)("o2") === Some(0.0))
    assert(all.stages.forall(stage => stage.restMs >= 0 && stage.endMs >= 0))
  }

  test("where all tasks ran on one executor its clock does not matter") {
    val marked = marks(Map("b" -> Set("a")))(At("a", 1, 0, 10, stage = 1), At("b", 2, 10, 30, stage = 2))
    val all = BatchTimes.of(0, marked, _ => None).get
    assert((all.boundMs, latencies(all)("b")) === ((Some(0.0), Some(20.0))))
  }

  test("within a stage a node's part is the share of looks that found rows on their way to it alone") {
    val all = times("a" -> "b", "b" -> "c")(
      At("a", 1, 0, 100, over = 110),
      At("b", 1, 0, 100, over = 110, waited = 30),
      At("c", 1, 0, 100, over = 110, waited = 80)
    )
    assert(latencies(all) === Map("a" -> Some(0.0), "b" -> Some(30.0), "c" -> Some(50.0)))
    assert(all.stages.map(stage => (stage.path, stage.restMs, stage.endMs)) === Seq((
      Seq("a", "b", "c"),
      30.0,
      110.0
    )))
  }

  test("looks are a sample: what was seen of half the time tells the whole, and of less nothing") {
    def all(watched: Double) = times("a" -> "b")(
      At("a", 1, 0, 100, watched = watched),
      At("b", 1, 0, 100, waited = watched / 2, watched = watched)
    )
    assert(latencies(all(60))("b") === Some(50.0))
    assert(latencies(all(40))("b") === None && all(40).stages.map(_.restMs) === Seq(100.0))
  }

  test("where more or fewer rows leave an operator than come to it, its part is left with the stage") {
    val all = times("a" -> "b", "b" -> "c")(
      At("a", 1, 0, 100, records = 10),
      At("b", 1, 0, 100, waited = 60, records = 4),
      At("c", 1, 0, 100, waited = 90, records = 4)
    )
    assert(latencies(all) === Map("a" -> Some(0.0), "b" -> None, "c" -> Some(30.0)))
    assert(all.stages.map(_.restMs) === Seq(70.0))
  }

  test("where all rows had passed the node before when a node began, nobody has seen them on their way") {
    def all(records: Int) =
      times("a" -> "b")(At("a", 1, 0, 60, records = records), At("b", 1, 80, 100, records = records))
    assert(latencies(all(10))("b") === None && all(10).stages.map(_.restMs) === Seq(100.0))
    assert(latencies(all(0))("b") === Some(0.0), "no row was on its way")
    val beside = times("a" -> "b")(
      At("a", 1, 0, 100),
      At("b", 1, 0, 100, waited = 90),
      At("a", 2, 0, 0, watched = 0),
      At("b", 2, 1, 1, watched = 0)
    )
    assert(latencies(beside)("b") === Some(90.0), "what no look has seen is too short to tell")
  }

  test("of two branches of a union in one stage each has its own tasks, and the path is that of the last") {
    val all = times("a" -> "b", "a" -> "c", "b" -> "d", "c" -> "d")(
      At("a", 1, 0, 20),
      At("a", 2, 0, 100),
      At("b", 1, 0, 20, waited = 10),
      At("c", 2, 0, 100, waited = 90),
      At("d", 1, 0, 20, waited = 12),
      At("d", 2, 0, 100, waited = 95)
    )
    assert(all.stages.map(_.path) === Seq(Seq("a", "c", "d")))
    assert(latencies(all) === Map("a" -> Some(0.0), "b" -> Some(10.0), "c" -> Some(90.0), "d" -> Some(5.0)))
    assert(all.stages.map(_.restMs) === Seq(5.0))
    assert(all.nodes.find(_.node == "d").map(_.partition) === Some(2))
  }

  test("a node that both branches of a diamond read belongs to each, and neither waits for the other") {
    val all = times("a" -> "b", "a" -> "c", "b" -> "d", "c" -> "d")(
      At("a", 1, 0, 100, stage = 1),
      At("b", 1, 0, 100, waited = 90, stage = 1),
      At("a", 2, 10, 60, stage = 2),
      At("c", 2, 10, 60, waited = 40, stage = 2),
      At("d", 3, 100, 130, stage = 3)
    )
    assert(all.stages.map(stage => stage.nodes.map(_.node) -> stage.upstream) ===
      Seq(Seq("a", "c") -> Nil, Seq("a", "b") -> Nil, Seq("d") -> Seq(0, 1)))
    assert(latencies(all) === Map("a" -> Some(0.0), "b" -> Some(90.0), "c" -> Some(40.0), "d" -> Some(30.0)))
  }

  test("time in which the last task waited for a slot goes to the nodes as all tasks spent theirs") {
    val all = times("a" -> "b")(
      At("a", 1, 0, 100),
      At("b", 1, 0, 100, waited = 50),
      At("a", 2, 100, 200),
      At("b", 2, 100, 200, waited = 90)
    )
    // 90 of its own, and of the 100 before it 140 of 200.
    assert(latencies(all)("b") === Some(160.0) && all.stages.map(_.restMs) === Seq(40.0))
  }

  test("where a task has both branches of a join, the looks do not tell what waits for what") {
    val all = times("l" -> "m", "m" -> "d", "r" -> "d")(
      At("l", 1, 0, 100),
      At("m", 1, 0, 100, waited = 95),
      At("r", 1, 0, 100, records = 1000),
      At("d", 1, 0, 100, records = 30)
    )
    assert(latencies(all)("m") === None && all.stages.map(_.restMs) === Seq(100.0))
  }

  test("a lone node whose records come from an action that ran later is not known") {
    val all = times("a" -> "b", "a" -> "c")(
      At("b", 1, 0, 100, stage = 1),
      At("a", 2, 150, 200, stage = 2),
      At("c", 2, 150, 200, waited = 10, stage = 2)
    )
    assert(latencies(all)("b") === None)
  }

  test("several partitions that one task reads are one slice of it") {
    val two = Map("b" -> Set("a"))
    val (first, second) = (
      Seq(At("a", 1, 0, 40), At("b", 1, 0, 40, waited = 10)),
      Seq(At("a", 1, 40, 100), At("b", 1, 40, 100, waited = 40))
    )
    val marked = marks(two)(first: _*).zip(marks(two)(second: _*)).map { case (one, other) =>
      one.copy(readings =
        one.readings ++ other.readings.map(_.copy(partition = 2))
      )
    }
    val all = BatchTimes.of(0, marked, _ => None).get
    assert(latencies(all)("b") === Some(50.0))
    assert(all.nodes.map(node => (node.ewtMs, node.partition)) === Seq((100.0, 2), (100.0, 2)))
  }

  test("a stage begins when those before it are over, and a slice without rows counts") {
    val all = times("a" -> "b")(
      At("a", 1, 0, 50, stage = 1),
      At("a", 2, 0, 80, stage = 1, records = 0),
      At("b", 3, 95, 100, stage = 2)
    )
    assert(all.stages.map(s => (s.upstream, s.startMs, s.endMs, s.tasks)) === Seq(
      (Nil, 0.0, 80.0, 2),
      (Seq(0), 95.0, 100.0, 1)
    ))
    assert(latencies(all)("b") === Some(5.0))
  }

  test("a batch begins with its first read, and what a task did before that is none of a stage's") {
    val all = times("a" -> "b", "b" -> "c")(
      At("a", 1, 1000, 1500, over = 1510, read = 100, stage = 1),
      At("b", 1, 1000, 1500, over = 1510, read = 100, waited = 200, watched = 400, stage = 1),
      At("a", 2, 1000, 1400, read = 160, stage = 1),
      At("b", 2, 1000, 1400, read = 160, waited = 60, watched = 240, stage = 1),
      At("c", 3, 1520, 1700, read = 50, stage = 2)
    )
    assert(all.firstReadMicros === 1100000)
    assert(all.stages.map(s => (s.startMs, s.endMs, s.restMs)) === Seq(
      (0.0, 410.0, 210.0),
      (470.0, 600.0, 0.0)
    ))
    assert(latencies(all) === Map("a" -> Some(0.0), "b" -> Some(200.0), "c" -> Some(130.0)))
    assert(all.nodes.map(_.ewtMs) === Seq(400.0, 400.0, 600.0))
    assert(partitions(all, "b").slowest.map(_.tookMs) === Seq(400.0, 240.0))
    assert(new OperatorPath(all).steps.map(step => (step.kind, step.ms)) ===
      Seq((Node, 200.0), (Rest, 210.0), (Waiting, 60.0), (Last, 130.0)))
  }

  test("a batch begins with the first of the jobs that read it, of which only the last stands") {
    val clocks = Map("1" -> ClockOffset(0, 0), "2" -> ClockOffset(50000, 0))
    val marked = marks(Map("b" -> Set("a")))(
      At("a", 1, 20000, 30000, stage = 3),
      At("b", 1, 20000, 30000, waited = 10000, stage = 3)
    )
    val before = marked.head.copy(earlier =
      Seq(TaskSlice("1", 400000, 1, 1, 1, 0), TaskSlice("2", 300000, 1, 1, 1, 0, readMs = 70))
    )
    val times = BatchTimes.of(0, before +: marked.tail, clocks.get).get
    assert(times.firstReadMicros === 320000)
    assert(times.stages.map(stage => (stage.startMs, stage.endMs)) === Seq((19680.0, 29680.0)))
    assert(new OperatorPath(times).steps.map(step => (step.kind, step.nodes, step.ms)) ===
      Seq((Waiting, Nil, 19680.0), (Node, Seq("b"), 10000.0)))
  }

  test("nothing is told where no task was watched") {
    val unseen = marks(Map.empty)(At("a", 1, 0, 1)).map(mark =>
      mark.copy(readings = mark.readings.map(_.copy(slice = TaskSlice.Unwatched)))
    )
    assert(BatchTimes.of(0, unseen, _ => None) === None)
  }

  test("the mean is of the last ten batches, and of fewer at first") {
    val latency = new OperatorLatency
    def shown = (OperatorLatency.last(latency.all), OperatorLatency.average(latency.all))
    assert(shown === ((None, None)))
    latency.add(100)
    assert(shown === ((Some(100.0), Some(100.0))))
    latency.add(41)
    assert(shown === ((Some(41.0), Some(70.5))))
    (1 to 10).foreach(ms => latency.add(ms.toDouble))
    assert(shown === ((Some(10.0), Some(5.5))))
  }
}
