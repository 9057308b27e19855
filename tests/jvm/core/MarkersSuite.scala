package io.sparklatency

import scala.collection.mutable

import io.sparklatency.answer.Markers
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.DropwizardName
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.JmxName
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.figures.MarkersSnapshot
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Metric
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.ReadingPlace
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** The latency markers of batches, from what their tasks tell. Times are milliseconds. */
class MarkersSuite extends AnyFunSuite {
  import MarkersSuite._

  private val second = MarkerSettings(Some(1000))

  /** A run of a query, whose batches the test makes. */
  private final class Run(
      markers: MarkerSettings,
      edges: Map[String, Set[String]],
      maxNodes: Int = 1000,
      val shown: Shown = new Shown
  ) {
    val clock = new ManualClock(1000000)
    val live = new LiveRuns(clock, FiguresSettings(maxNodes = maxNodes), shown)(_.stopped)
    private var batches = 0L
    private var run = "1"

    def owner(node: String) = MarkOwner(NodeKey("orders", node), Some("id"), Some(run))

    def batch(committed: Long, offsets: Map[String, Long] = Map.empty)(stops: At*): Unit = {
      batches += 1
      val nodes = stops.map(_.node).distinct
      live.planned(nodes.map(node =>
        PlannedNode(
          owner(node),
          edges.getOrElse(node, Set.empty),
          batches * 100 + nodes.indexOf(node),
          markers = markers
        )
      ))
      val marks = nodes.map { node =>
        val readings =
          stops.filter(_.node == node).map(at => ReadingPlace(at.stage, at.partition) -> at.reading)
        MarkReadings(node, Measure.E2ELatency, 0, edges.getOrElse(node, Set.empty), readings.toMap)
      }
      live.update(owner(nodes.head)) { query =>
        val batch = query.batch(batches)
        query.add(marks, batch, executor => Some(ClockOffset(offsets.getOrElse(executor, 0L), 0)))
        batch.committed(committed)
        query.commit(batches)(identity)
      }
      ()
    }

    /** A task that does not end tells what it did up to now, of 1000 milliseconds more. */
    def tells(task: Long, now: Long)(nodes: (String, Float, Long)*): Unit = {
      clock.set(now)
      val all = nodes.map { case (node, waited, rows) =>
        TaskReport.Node(
          ids.indexOf(node).toLong,
          task.toInt,
          TaskSlice("1", 0, now.toFloat, now.toFloat, now.toFloat, waited),
          rows
        )
      }
      live.report(TaskReport(run, TaskAttempt(1, task.toInt, task), hasBatches = false, all))
    }

    private lazy val ids = edges.toSeq.flatMap { case (to, from) => from.toSeq :+ to }.distinct.sorted
    def endless(): Unit = live.planned(ids.zipWithIndex.map { case (node, planning) =>
      PlannedNode(owner(node), edges.getOrElse(node, Set.empty), planning.toLong, markers = markers)
    })

    def restart(): Unit = {
      live.stopped(run)
      run = s"${run.toInt + 1}"
    }

    def query: QuerySnapshot = live.snapshot().last
    def found: MarkersSnapshot = query.markers.get

    /** Of each histogram: how many markers, and the shortest and longest time. */
    def histograms: Map[String, (Long, Long, Long)] = found.of.filter(_.figures.window.count > 0).map { one =>
      val window = one.figures.window
      name(one.key) -> ((window.count, window.min.get, window.max.get))
    }.toMap
  }

  private def chain(nodes: String*): Map[String, Set[String]] =
    nodes.zip(nodes.drop(1)).map { case (from, to) => to -> Set(from) }.toMap

  private def named(histograms: Map[String, (Long, Long, Long)], operator: String) =
    histograms.filter { case (name, _) => name.contains(s"> $operator") }

  test(
    "D1: with an interval of 10, batches that begin to read at 1, 10, 11, 21 and 100 are marked at 1, 11, 21 and 100"
  ) {
    def marked(interval: Option[Long], begins: Seq[Long]) = {
      val run = new Run(MarkerSettings(interval), Map.empty)
      begins.map { ms =>
        run.batch(ms + 1)(At("s", 0, ms, ms + 1))
        run.query.markers.flatMap(_.markedMs)
      }.distinct.flatten -> run.query.markers.map(_.count)
    }
    assert(marked(Some(10), Seq(1, 10, 11, 21, 100)) === ((Seq(1, 11, 21, 100), Some(4))))
    assert(marked(Some(10), (0L to 100L)) === ((0L to 100L by 10L, Some(11))))
    assert(marked(None, Seq(1, 10, 11, 21, 100)) === ((Nil, None)))
  }

  test("D1: no burst after a batch that blocked, and a clock that was set back marks at once") {
    val run = new Run(MarkerSettings(Some(10)), Map.empty)
    for (ms <- Seq(0L, 100L, 101L, 109L, 110L, 50L)) run.batch(ms)(At("s", 0, ms, ms))
    assert(run.found.count === 4 && run.found.markedMs === Some(50))
  }

  /** Markers (S1,0) (S1,0) (S1,1) (S2,2) (S2,3), which come to partition 64 of one operator. */
  private def flinks(granularity: Granularity): Map[String, (Long, Long, Long)] = {
    val run = new Run(MarkerSettings(Some(10), granularity), Map("o" -> Set("S1", "S2")))
    run.batch(60)(
      At("S1", 0, 0, 10, stage = 1),
      At("S1", 1, 5, 10, stage = 1),
      At("S2", 2, 10, 20, stage = 2),
      At("S2", 3, 10, 20, stage = 2),
      At("o", 64, 30, 50, stage = 3)
    )
    run.batch(160)(At("S1", 0, 100, 110, stage = 4), At("o", 64, 130, 150, stage = 5))
    named(run.histograms, "o")
  }

  test("D2: five markers are one histogram, two or four, by granularity, in the operator's partition 64") {
    assert(flinks(Granularity.Single) === Map("> o.64" -> ((5, 40, 50))))
    assert(flinks(Granularity.Operator) === Map("S1 > o.64" -> ((3, 45, 50)), "S2 > o.64" -> ((2, 40, 40))))
    assert(flinks(Granularity.Subtask) === Map(
      "S1.0 > o.64" -> ((2, 50, 50)),
      "S1.1 > o.64" -> ((1, 45, 45)),
      "S2.2 > o.64" -> ((1, 40, 40)),
      "S2.3 > o.64" -> ((1, 40, 40))
    ))
  }

  test("names and tags are Flink's") {
    val key = MarkerKey(Granularity.Subtask, "S1", 0, "o", Some(64))
    assert(key.tags === Seq(
      "source_id" -> "S1",
      "source_subtask_index" -> "0",
      "operator_id" -> "o",
      "operator_subtask_index" -> "64"
    ))
    assert(MarkerKey(Granularity.Operator, "S1", 0, "o", Some(64)).tags.map(_._1) ===
      Seq("source_id", "operator_id", "operator_subtask_index"))
    assert(MarkerKey(Granularity.Single, "S1", 0, "o", Some(64)).tags.map(_._1) ===
      Seq("operator_id", "operator_subtask_index"))
    assert(DropwizardName.ofMarker("q.1", key, Metric.ofMarkers.last) ===
      "query.q%2E1.latency.source_id.S1.source_subtask_index.0.operator_id.o.operator_subtask_index.64.latency-max")
    assert(JmxName.ofMarker(
      "q",
      key
    ).toString === "sparklatency:type=latency-marker-metrics,query=q,source_id=S1," +
      "source_subtask_index=0,operator_id=o,operator_subtask_index=64")
    assert(Metric.ofMarkers.map(_.name) ===
      Seq("count", "min", "avg", "p50", "p90", "p95", "p99", "p999", "max").map(figure => s"latency-$figure"))
  }

  test("Prometheus has a histogram in seconds, with Flink's names as labels") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30))
    val lines = PrometheusText("app", Seq(run.query), None).text.linesIterator.toSeq
    val labels = """app="app",operator_id="o",operator_subtask_index="0",query="orders",source_id="s""""
    assert(lines.contains(s"sparklatency_marker_latency_seconds_count{$labels} 1"))
    assert(lines.contains(s"sparklatency_marker_latency_seconds_sum{$labels} 0.03"))
  }

  test(
    "within a stage a marker goes from partition to partition, and to the commit; an empty partition has one too"
  ) {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(
      At("s", 0, 0, 10, records = 5),
      At("o", 0, 0, 30, records = 5),
      At("s", 1, 20, 21, records = 0),
      At("o", 1, 20, 22, records = 0)
    )
    assert(run.histograms === Map(
      "s > s.0" -> ((1, 10, 10)),
      "s > s.1" -> ((1, 1, 1)),
      "s > o.0" -> ((1, 30, 30)),
      "s > o.1" -> ((1, 2, 2)),
      "s > __commit__" -> ((2, 80, 100))
    ))
  }

  test("behind a shuffle each partition has the markers of all partitions before it") {
    for (granularity <- Seq(Granularity.Operator, Granularity.Subtask)) {
      val run = new Run(MarkerSettings(Some(1000), granularity), chain("s", "o", "end"))
      run.batch(500)(
        At("s", 0, 0, 100),
        At("o", 0, 0, 110),
        At("s", 1, 40, 300),
        At("o", 1, 40, 310),
        At("end", 0, 320, 400, stage = 2, task = Some(7)),
        At("end", 1, 330, 330, stage = 2, task = Some(8))
      )
      val end = named(run.histograms, "end")
      if (granularity == Granularity.Operator)
        assert(end === Map("s > end.0" -> ((2, 360, 400)), "s > end.1" -> ((2, 290, 330))))
      else assert(end === Map(
        "s.0 > end.0" -> ((1, 400, 400)),
        "s.1 > end.0" -> ((1, 360, 360)),
        "s.0 > end.1" -> ((1, 330, 330)),
        "s.1 > end.1" -> ((1, 290, 290))
      ))
    }
  }

  test(
    "a partition of a union has the markers of its own side, and one that joins several partitions those of all"
  ) {
    val run =
      new Run(MarkerSettings(Some(1000), Granularity.Subtask), Map("u" -> Set("a", "b"), "c" -> Set("u")))
    run.batch(100)(
      At("a", 0, 0, 10, task = Some(1)),
      At("u", 0, 0, 12, task = Some(1)),
      At("b", 0, 20, 30, task = Some(2)),
      At("u", 1, 20, 35, task = Some(2))
    )
    assert(named(run.histograms, "u") === Map("a.0 > u.0" -> ((1, 12, 12)), "b.0 > u.1" -> ((1, 15, 15))))
    val joined = new Run(MarkerSettings(Some(1000), Granularity.Subtask), chain("s", "o", "end"))
    joined.batch(100)(
      At("s", 0, 0, 10, task = Some(1)),
      At("o", 0, 0, 10, task = Some(1)),
      At("s", 1, 10, 20, task = Some(1)),
      At("o", 1, 10, 20, task = Some(1)),
      At("end", 0, 0, 25, task = Some(1))
    )
    assert(named(joined.histograms, "end") === Map(
      "s.0 > end.0" -> ((1, 25, 25)),
      "s.1 > end.0" -> ((1, 15, 15))
    ))
    assert(named(joined.histograms, "o") === Map("s.0 > o.0" -> ((1, 10, 10)), "s.1 > o.1" -> ((1, 10, 10))))
  }

  test("clocks are corrected, and what they cannot explain keeps its sign") {
    val run = new Run(second, chain("s", "end"))
    run.batch(200, Map("ahead" -> 50000L))(
      At("s", 0, 150, 160, executor = "ahead"),
      At("end", 0, 120, 180, stage = 2, executor = "right", task = Some(9))
    )
    assert(named(run.histograms, "end") === Map("s > end.0" -> ((1, 80, 80))))
    run.batch(1500)(
      At("s", 0, 1500, 1510, executor = "unknown"),
      At("end", 0, 1460, 1470, stage = 2, executor = "right", task = Some(9))
    )
    assert(named(run.histograms, "end") === Map("s > end.0" -> ((2, -30, 80))))
  }

  test(
    "D3: histograms forget by time: after a window of silence nothing is shown but the last figures, and that they are old"
  ) {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30))
    run.clock.advance(59999)
    assert(run.histograms("s > o.0") === ((1, 30, 30)))
    run.clock.advance(1)
    assert(run.histograms === Map.empty)
    val quiet = run.found.of.find(_.key.operator == "o").get
    assert(quiet.isQuiet && quiet.latest.max === Some(
      30
    ) && quiet.lastMs === 100 && quiet.figures.total.count === 1)
    run.batch(5100)(At("s", 0, 5000, 5010), At("o", 0, 5000, 5007))
    assert(run.histograms("s > o.0") === ((1, 7, 7)))
    assert(run.found.of.find(_.key.operator == "o").get.figures.total.count === 2)
  }

  test("a batch that reads no source carries no marker, and a new run of the query begins anew") {
    val run = new Run(second, chain("s", "o"))
    run.batch(100)(At("s", 0, 0, 10), At("o", 0, 0, 30))
    run.batch(5100)(At("o", 0, 5000, 5030))
    assert(run.found.count === 1)
    val before = run.shown.markers.toSeq
    run.restart()
    run.batch(9100)(At("s", 0, 9000, 9010), At("o", 0, 9000, 9040))
    assert(run.histograms("s > o.0") === ((1, 40, 40)))
    val (gone, now) = (before.map(_._2), run.shown.markers.values.toSeq)
    assert(now.size === before.size && !now.exists(figures => gone.exists(_ eq figures)))
  }

  test("there are as many histograms as nodes at most: the others are one, and counted") {
    val run = new Run(MarkerSettings(Some(1000), Granularity.Subtask), chain("s", "o"), maxNodes = 3)
    run.batch(100)((0 to 3).flatMap(i => Seq(At("s", i, 0, 10), At("o", i, 0, 30))): _*)
    assert(run.found.of.size === 4 && run.found.folded === 9)
    val other = run.found.of.find(_.key == MarkerKey.Other).get
    assert(other.figures.total.count === 9 && run.found.of.map(_.figures.total.count).sum === 12)
  }

  test(
    "where no batch ends, a second of a task tells how long its rows took on average; one without rows tells nothing"
  ) {
    val run = new Run(second, chain("a", "b", "c"))
    run.endless()
    run.tells(1, 1000)(("a", 0, 10), ("b", 100, 10), ("c", 200, 10))
    assert(run.found.count === 0)
    run.tells(1, 2000)(("a", 0, 20), ("b", 300, 20), ("c", 600, 19))
    assert(run.histograms === Map("a > b.1" -> ((1, 20, 20)), "a > c.1" -> ((1, 44, 44))))
    run.tells(1, 3000)(("a", 0, 20), ("b", 300, 20), ("c", 600, 19))
    assert(run.found.count === 1, "no row came")
    run.tells(1, 3500)(("a", 0, 40), ("b", 500, 40), ("c", 1100, 20))
    assert(
      run.histograms === Map("a > b.1" -> ((2, 10, 20)), "a > c.1" -> ((1, 44, 44))),
      "c lets other rows pass"
    )
  }

  test("where no batch ends, each task is marked when the interval has passed since it was") {
    val run = new Run(MarkerSettings(Some(3000)), chain("a", "b"))
    run.endless()
    for (ms <- 1000L to 8000L by 1000L; task <- 1 to 2)
      run.tells(task.toLong, ms)(("a", 0, ms), ("b", ms / 2f, ms))
    assert(run.found.count === 6)
    run.live.taskEnded(1, hasFailed = false)
    run.tells(1, 12000)(("a", 0, 12000), ("b", 6000, 12000))
    assert(run.found.count === 6)
  }

  test("a sentence says how long they take to the commit, of the slowest source") {
    val run = new Run(second, Map("o" -> Set("a", "b")))
    assert(run.live.snapshot().isEmpty)
    run.batch(400)(At("a", 0, 0, 10, task = Some(1)), At("b", 0, 100, 110, task = Some(2)))
    assert(Markers.text(run.found) ===
      "Latency markers take 400 ms from a to the commit, on average. A batch carries them every 1 s.")
    run.clock.advance(60000)
    assert(Markers.text(
      run.found
    ) === "Latency markers take 400 ms from a to the commit, on average in the last batch " +
      "that carried them. A batch carries them every 1 s.")
  }
}

object MarkersSuite {

  /** A node in a task, which is that of the partition unless the test says otherwise. */
  private final case class At(
      node: String,
      partition: Int,
      from: Long,
      to: Long,
      stage: Int = 1,
      task: Option[Int] = None,
      executor: String = "1",
      records: Int = 1
  ) {
    def reading: Reading = {
      val ms = (to - from).toFloat
      val number = task.getOrElse(partition)
      Reading(
        partition,
        TaskAttempt(stage, number, stage * 1000L + number),
        1,
        0,
        Aged.records(Seq.fill(records)(5L): _*),
        LatencySummary.empty,
        slice = TaskSlice(executor, from * 1000, ms, ms, ms, 0)
      )
    }
  }

  private def name(key: MarkerKey): String = {
    def part(id: Option[String], subtask: Option[Int]) =
      id.fold("")(id => subtask.fold(id)(number => s"$id.$number"))
    s"${part(key.source, key.sourceSubtask)} > ${part(Some(key.operator), key.operatorSubtask)}".trim
  }

  /** What a process shows of markers. */
  private final class Shown extends FiguresListener {
    val markers = mutable.Map.empty[MarkerKey, LiveFigures]
    override def addedMarker(query: String, key: MarkerKey, figures: LiveFigures): Unit =
      markers(key) = figures
    override def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit = ()
    override def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit = ()
    override def addedOperator(key: NodeKey, latency: OperatorLatency): Unit = ()
    override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = ()
    override def removed(query: String, nodes: Map[String, collection.Set[Measure]]): Unit = markers.clear()
  }
}
