package io.sparklatency

import scala.collection.mutable

import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Filling
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.NodeTimestamp
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskId
import io.sparklatency.figures.TaskPlace
import io.sparklatency.figures.WorkSource
import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** What the driver keeps of a batch, by granularity and up to a limit. */
class RunFiguresSuite extends AnyFunSuite {
  private val Start = 1790000000000L
  private val clock = new ManualClock(Start)
  private val query = "figures"

  private def owner(node: String) = MarkOwner(NodeKey(query, node), Some("id"), Some("run"))

  private def mark(node: String, subtopology: Int, upstream: String*)(ages: Long*): MarkReadings = {
    val readings = ages.zipWithIndex.map { case (age, partition) =>
      val recorder = new LatencyRecorder(new ManualClock(Start))
      recorder.record((Start - age) * 1000)
      val attempt = TaskAttempt(0, partition, partition.toLong)
      Reading(partition, attempt, planning = 0, number = 0, recorder.summary(), recorder.unpublished)
    }
    MarkReadings(
      node,
      Measure.E2ELatency,
      subtopology,
      upstream.toSet,
      readings,
      readsSource = subtopology == 0
    )
  }

  /** The tasks that were shown. */
  private final class Tasks extends FiguresListener {
    var figures = Map.empty[String, LiveFigures]
    def shown: Set[String] = figures.keySet

    /** How many records each has in all, where it has any. */
    def records: Map[String, Long] =
      figures.view.mapValues(_.snapshot().total.records).filter(_._2 > 0).toMap
    override def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit = ()
    override def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit =
      this.figures += s"$task ${node.orNull}" -> figures
    override def addedOperator(key: NodeKey, latency: OperatorLatency): Unit = ()
    override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = ()
    override def removed(query: String, nodes: Map[String, collection.Set[Measure]]): Unit = ()
  }

  private def shown(settings: FiguresSettings)(marks: MarkReadings*): QuerySnapshot = {
    val tasks = new Tasks
    val runs = new LiveRuns(clock, settings, tasks)(_.stopped)
    runs.update(owner("any"))(query => query.add(marks, query.batch(0), _ => None))
    beans = tasks.shown
    runs.snapshot().head
  }
  private var beans = Set.empty[String]

  private def counts(snapshot: QuerySnapshot): Seq[(String, Long)] =
    snapshot.nodes.map(node => node.id -> node.measures(Measure.E2ELatency).total.records)

  private def pipeline =
    Seq(mark("source", 0)(1, 2), mark("middle", 0, "source")(3, 4), mark("sink", 1, "middle")(5, 6, 7))

  test("at granularity single only the nodes show at which the query ends") {
    assert(counts(shown(FiguresSettings(granularity =
      Granularity.Single
    ))(pipeline: _*)) === Seq("sink" -> 3))
    assert(beans.isEmpty)
  }

  test("at granularity operator every node shows, with those upstream of it") {
    val snapshot = shown(FiguresSettings())(pipeline: _*)
    assert(counts(snapshot) === Seq("source" -> 2, "middle" -> 2, "sink" -> 3))
    assert(snapshot.nodes.map(_.upstream) === Seq(Nil, Seq("source"), Seq("middle")))
    assert(beans.isEmpty)
  }

  test("at granularity subtask there is a bean for each node in each task, and for each task") {
    shown(FiguresSettings(granularity = Granularity.Subtask))(pipeline: _*)
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

  test("records that are ahead of the clock arrive young, and no less time passes in state for it") {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def aged(mark: MarkReadings) = mark.copy(
      isLast = !mark.comesIn,
      readings = mark.readings.map(reading => reading.copy(ages = Some(Ages(Start, reading.summary))))
    )
    var told = Option.empty[Batch]
    runs.update(owner("any")) { query =>
      val batch = query.batch(0)
      batch.holdsRecords = true
      // Of those that come out the window closes a second after they came in.
      val (in, out) = (mark("source", 0)(-60000).copy(comesIn = true), mark("sink", 1, "source")(-59000))
      query.add(Seq(aged(in), aged(out)), batch, _ => None)
      batch.committed(Start + 1000)
      told = query.commit(0)(_.copy(
        times = Some(BatchTimes(0, (Start - 400) * 1000, Some(0), Nil)),
        admission = Some(Admission.first(Start - 500, 1500))
      ))
    }
    val parts = told.flatMap(_.parts).get
    assert((
      parts.waits.arrivedOld,
      parts.work,
      parts.state,
      parts.commit
    ) === ((-60400.0, 400.0, 1000.0, 1000.0)))
    assert(parts.whole === -58000.0)
  }

  test(
    "what a join gives out waited as long as the records of the side that dates it, however many the other has"
  ) {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def aged(mark: MarkReadings) = mark.copy(
      isLast = !mark.comesIn,
      readings = mark.readings.map(reading => reading.copy(ages = Some(Ages(Start, reading.summary))))
    )
    def parts(number: Long, by: String*): AgeParts = {
      var told = Option.empty[Batch]
      runs.update(owner("any")) { query =>
        val batch = query.batch(number)
        batch.holdsRecords = true
        val shown = mark("impressions", 0)(Seq.fill(990)(2000L): _*).copy(comesIn = true)
        val clicked = mark("clicks", 1)(Seq.fill(10)(120000L): _*).copy(comesIn = true)
        val both =
          mark("joined", 2, "impressions", "clicks")(Seq.fill(10)(120000L): _*).copy(dated = by.toSet)
        query.add(Seq(shown, clicked, both).map(aged), batch, _ => None)
        batch.committed(Start + 1000)
        told = query.commit(number)(_.copy(
          times = Some(BatchTimes(number, (Start - 400) * 1000, Some(0), Nil)),
          admission = Some(Admission.first(Start - 500, 1500))
        ))
      }
      told.flatMap(_.parts).get
    }
    def of(parts: AgeParts) = (parts.waits.whole.round, parts.work, parts.state.round, parts.commit)
    assert(of(parts(0, "clicks")) === ((119600, 400.0, 0, 1000.0)))
    // Where both date it, or nobody knows, they are told together.
    assert(of(parts(1, "impressions", "clicks")) === ((2780, 400.0, 116820, 1000.0)))
    assert(of(parts(2)) === ((2780, 400.0, 116820, 1000.0)))
  }

  test(
    "what comes out of state later is told of the batch with which it came in, and of the one before that"
  ) {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def filling(seconds: Int) = Some(Filling(seconds * 1000.0, Filling.Node, Seq("source"), seconds * 900.0))
    def aged(mark: MarkReadings) = mark.copy(
      isLast = !mark.comesIn,
      readings = mark.readings.map(reading => reading.copy(ages = Some(Ages(Start, reading.summary))))
    )
    val (source, sink) = (mark("source", 0)(5).copy(comesIn = true), mark("sink", 1, "source")(5))
    def batch(number: Long, before: Option[Filling], marks: MarkReadings*) =
      runs.update(owner("any")) { query =>
        val open = query.batch(number)
        open.holdsRecords = true
        query.add(marks.map(aged), open, _ => None)
        open.committed(Start + 1000)
        val told = query.commit(number)(_.copy(
          before = before,
          times = Some(BatchTimes(number, Start * 1000, Some(0), Nil)),
          admission = Some(Admission.first(Start - 500, 1500))
        )).get
        (told.before, told.cameIn)
      }
    assert(batch(6, filling(120), source) === ((filling(120), None)))
    assert(batch(7, filling(60), sink) === ((filling(120), filling(60))))
    assert(batch(8, filling(1), sink) === ((filling(120), filling(60))))
    assert(batch(9, filling(2), source, sink) === ((filling(2), None)))
  }

  /** What a task publishes while it runs, and what it gives when it has ended: two records, one of them not published. */
  private def running(task: Long, node: String, place: TaskPlace): (PublishedPart, MarkReadings) = {
    val mark = this.mark(node, place.id.subtopology)(1)
    val reading = mark.readings.head
    val part =
      PublishedPart(owner(node), reading.id.copy(task = task), false, reading.summary, None, Some(place))
    val attempt = TaskAttempt(0, place.id.partition, task)
    val whole =
      reading.copy(attempt = attempt, summary = reading.summary + reading.summary, rest = reading.summary)
    (part, mark.copy(readings = Seq(whole)))
  }

  test("what a running task publishes is in its bean, and counts once when it has ended") {
    val tasks = new Tasks
    val runs = new LiveRuns(clock, FiguresSettings(granularity = Granularity.Subtask), tasks)(_.stopped)
    val (part, whole) = running(7, "only", TaskPlace(TaskId(2, 5), isLast = true))
    runs.publish(part)
    assert(tasks.records === Map("2_5 only" -> 1, "2_5 null" -> 1))
    runs.update(owner("any"))(query => query.add(Seq(whole), query.batch(0), _ => None))
    runs.executionEnded(Set(0))
    assert(tasks.records === Map("2_5 only" -> 2, "2_5 null" -> 2))
  }

  test("what a task has published and nobody has heard of comes into the window when it has ended") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val (_, whole) = running(7, "only", TaskPlace(TaskId(0, 0), isLast = true))
    runs.update(owner("any"))(query => query.add(Seq(whole), query.batch(0), _ => None))
    val shown = runs.snapshot().head.nodes.head.measures(Measure.E2ELatency)
    assert((shown.total.records, shown.window.count) === ((2, 2)))
  }

  test("what a task has published and its end overtook is in the window all the same") {
    val runs = new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped)
    val (part, whole) = running(7, "only", TaskPlace(TaskId(0, 0), isLast = true))
    def late = part.copy(summary = mark("only", 0)(90).readings.head.summary)
    val all = whole.copy(readings =
      whole.readings.map(reading =>
        reading.copy(summary = reading.summary + late.summary)
      )
    )
    runs.publish(part)
    runs.taskEnded(7, stage = 0, hasFailed = false)
    runs.publish(late)
    runs.update(owner("any"))(query => query.add(Seq(all), query.batch(0), _ => None))
    def shown = runs.snapshot().head.nodes.head.measures(Measure.E2ELatency)
    assert((shown.total.records, shown.window.count, shown.window.max) === ((3, 3, Some(90))))
    runs.executionEnded(Set(0))
    assert((shown.total.records, shown.window.count, shown.window.max) === ((3, 3, Some(90))))
  }

  test("what a task has published leaves its bean when it fails, and when another stands in its place") {
    val tasks = new Tasks
    val runs = new LiveRuns(clock, FiguresSettings(granularity = Granularity.Subtask), tasks)(_.stopped)
    val place = TaskPlace(TaskId(0, 0), isLast = false)
    val (failing, slow) = (running(7, "only", place)._1, running(8, "only", place)._1)
    Seq(failing, failing, slow).foreach(runs.publish)
    assert(tasks.records === Map("0_0 only" -> 2))
    runs.taskEnded(7, stage = 0, hasFailed = true)
    assert(tasks.records === Map("0_0 only" -> 1))
    runs.executionEnded(Set(0))
    assert(tasks.records.isEmpty)
  }

  test("at any other granularity a running task has no bean") {
    for (granularity <- Seq(Granularity.Single, Granularity.Operator)) {
      val tasks = new Tasks
      val runs = new LiveRuns(clock, FiguresSettings(granularity = granularity), tasks)(_.stopped)
      runs.publish(running(7, "only", TaskPlace(TaskId(0, 0), isLast = true))._1)
      assert(tasks.shown.isEmpty)
    }
  }

  test("nodes beyond the limit are folded into one, and counted") {
    val snapshot = shown(FiguresSettings(maxNodes = 2))(
      (1 to 5).map(n => mark(s"node-$n", 0)(n.toLong)): _*
    )
    assert(counts(snapshot).toMap.values.sum === 5)
    assert(snapshot.nodes.size === 3 && snapshot.nodes.last.id === "__other__" && snapshot.folded === 3)
  }

  test("tasks beyond the limit are folded into one bean") {
    val ages = (1L to 9L).toSeq
    val snapshot =
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

  test(
    "how often there is a commit is the median of the last ten, whatever one batch took and however the clock was set"
  ) {
    def usually(committed: Long*): Option[Double] = {
      val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
      runs.update(owner("any")) { query =>
        for ((at, number) <- committed.zipWithIndex)
          query.replay(Batch(query.name, None, None, number.toLong, at, at, 0, Map.empty, None, Nil, 0, Nil))
      }
      runs.snapshot().head.usuallyMs
    }
    assert(usually(Start) === None)
    assert(usually(Start, Start + 2000, Start + 5000) === Some(2500.0))
    val each = (0L to 10L).map(Start + 40000 * _)
    assert(usually(each: _*) === Some(40000.0))
    assert(usually(each :+ (each.last + 600000): _*) === Some(40000.0))
    assert(usually(each :+ (each.last + 40000 - 3600000): _*) === Some(40000.0), "an hour back")
    assert(usually(each :+ (each.last + 40000 + 3600000): _*) === Some(40000.0), "an hour forward")
    assert(usually(Start, Start - 3600000) === None)
  }

  test("how long a batch takes is the median of the last ten that tell it") {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def takes: Option[Double] = runs.snapshot().head.takesMs
    def batch(durations: (String, Long)*): Unit = runs.update(owner("any")) { query =>
      query.replay(Batch(query.name, None, None, 0, Start, Start, 0, durations.toMap, None, Nil, 0, Nil))
    }
    batch("addBatch" -> 7)
    assert(takes === None)
    batch("triggerExecution" -> 2000, "addBatch" -> 1900)
    assert(takes === Some(2000.0))
    batch("triggerExecution" -> 5000)
    assert(takes === Some(3500.0))
    (1 to 10).foreach(_ => batch("triggerExecution" -> 600))
    assert(takes === Some(600.0))
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
