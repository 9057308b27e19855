package io.sparklatency

import scala.util.Random

import io.sparklatency.figures.Batch
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresMaker
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.RunFigures
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.WatermarkKey
import io.sparklatency.figures.WindowSamples
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** What a driver folds from executions and a History Server folds from the events of the same batches is the same. */
class OneFoldSuite extends AnyFunSuite {
  private val owner = MarkOwner(NodeKey("orders", "any"), Some("id"), Some("run"))

  /** A driver, whose clock the test sets, and the batches that it has put into the event log. */
  private final class Driver(settings: FiguresSettings = FiguresSettings()) {
    val clock = new ManualClock(1000000)
    private val runs = new LiveRuns(clock, settings, FiguresListener.Nowhere)(_.stopped)
    var events = Vector.empty[Batch]

    def batch(id: Long, newestMs: Option[Long] = None)(marks: MarkReadings*): Unit =
      runs.update(owner) { run =>
        val open = run.batch(id)
        run.add(marks, open, _ => None)
        open.watermarks =
          newestMs.map(at => SourceWatermark("rate", "at", 0, Some(at), holdsBack = true)).toSeq
        open.awaitsWatermark = true
        open.committed(clock.millis())
        run.commit(id)(identity).foreach(events :+= _)
      }

    def shown: QuerySnapshot = runs.snapshot().head
  }

  private def mark(
      node: String,
      upstream: Seq[String],
      ages: Seq[Long],
      at: Option[Long],
      measure: Measure = Measure.E2ELatency
  ): MarkReadings = {
    val readings = ages.zipWithIndex.map { case (age, partition) =>
      val summary = Aged.records(age)
      val attempt = TaskAttempt(0, partition, partition.toLong)
      Reading(
        partition,
        attempt,
        planning = 1,
        number = 0,
        summary,
        LatencySummary.empty,
        at.map(Ages(_, summary))
      )
    }
    MarkReadings(
      node,
      measure,
      0,
      upstream.toSet,
      readings,
      isLast = at.nonEmpty,
      readsSource = true
    )
  }

  private def replayed(events: Seq[Batch]): QuerySnapshot = {
    val clock = new ManualClock(events.head.committedMs)
    val samples = WindowSamples(WindowSettings(), clock)
    val run = new RunFigures(
      owner,
      Granularity.Operator,
      new FiguresMaker {
        override def hasRoomForMarkers: Boolean = true
        override def marker(key: MarkerKey): LiveFigures = new LiveFigures(clock, samples)
        override def window = WindowSettings()
        override def hasRoom = true
        override def hasRoomForTask = true
        override def node(node: String, measure: Measure) = new LiveFigures(clock, samples)
        override def operator(node: String) = new OperatorLatency
        override def watermark(key: WatermarkKey): Unit = ()
        override def task(task: String, node: Option[String]) = new LiveFigures(clock, samples)
      }
    )
    events.foreach { batch =>
      clock.set(batch.committedMs)
      run.replay(batch)
    }
    run.snapshot(clock.millis())
  }

  private def figures(summary: LatencySummary) =
    (summary.records, summary.min, summary.avg, summary.percentiles(Seq(50, 99)), summary.max)

  private def told(query: QuerySnapshot) = (
    query.batches,
    query.lastBatch.map(_.batch),
    query.isSilent,
    query.folded,
    query.nodes.map(node =>
      (
        node.id,
        node.upstream,
        node.measures.map { case (measure, m) => measure -> (figures(m.total), figures(m.window)) },
        node.batch.map { case (measure, summary) => measure -> figures(summary) }
      )
    )
  )

  for (seed <- 1 to 20) test(s"random batches, some without data, some minutes apart, seed $seed") {
    val (random, driver) = (new Random(seed), new Driver)
    for (id <- 0L until 30L) {
      driver.clock.advance(random.nextInt(60000).toLong)
      def ages = Seq.fill(random.nextInt(4))(random.nextInt(100000).toLong)
      val at = Some(driver.clock.millis() - random.nextInt(1000))
      val marks = Seq(
        mark("source", Nil, ages, None),
        mark("middle", Seq("source"), ages, None),
        mark("join-1", Seq("middle"), ages, None, Measure.Staleness), // gives out no timestamp
        mark("sink", Seq("middle"), ages, at)
      )
      driver.batch(id)(marks.drop(random.nextInt(4)): _*)
    }
    assert(told(replayed(driver.events)) === told(driver.shown))
  }

  test("how far records came behind the newest event is known of both") {
    val driver = new Driver
    for (id <- 0L to 3L) {
      val now = driver.clock.millis()
      val source =
        mark("source", Nil, Seq(900, 100 * id), Some(now)).copy(comesIn = true, isLast = false)
      driver.batch(id, Some(now))(source)
    }
    assert(driver.shown.outOfOrder.count === 6)
    assert(figures(replayed(driver.events).outOfOrder) === figures(driver.shown.outOfOrder))
  }

  test("how many nodes were too many is known of both") {
    val driver = new Driver(FiguresSettings(maxNodes = 1))
    driver.batch(0)(mark("source", Nil, Seq(1), None), mark("sink", Seq("source"), Seq(2), None))
    driver.batch(1)(mark("source", Nil, Seq(1), None))
    assert(driver.shown.folded === 1 && driver.shown.nodes.map(_.id) === Seq("source", "__other__"))
    assert(told(replayed(driver.events)) === told(driver.shown))
  }
}
