package org.apache.spark.sql.latency

import scala.jdk.CollectionConverters._

import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.RunFigures
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.metrics.DropwizardSource
import org.scalatest.funsuite.AnyFunSuite

/** The figures of a process as they come and go, as an executor keeps them, by their gauges. In Spark's package for its own. */
class DropwizardSourceSuite extends AnyFunSuite {
  private val clock = new ManualClock(1000)

  /** The figures of a process, and the gauges that show them. */
  private final class Process(settings: FiguresSettings, mayForget: RunFigures => Boolean) {
    private val source = new DropwizardSource
    val runs = new LiveRuns(clock, settings, source)(mayForget)

    def add(query: String, run: String): Unit =
      runs.update(owner(query, run))(_.add("n", Measure.E2ELatency, record))

    def counted: Map[String, Any] = source.metricRegistry.getGauges.asScala.collect {
      case (name, gauge) if name.endsWith(".records") => name -> gauge.getValue
    }.toMap
  }

  private def process(settings: FiguresSettings = FiguresSettings()) = new Process(settings, _ => true)

  private def owner(query: String, run: String) = MarkOwner(NodeKey(query, "n"), Some("id"), Some(run))

  private def record: LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    recorder.record(clock.millis() * 1000)
    recorder.summary()
  }

  test("a new run of a query begins anew") {
    val figures = process()
    for (run <- Seq("1", "1", "2")) figures.add("q", run)
    assert(figures.counted === Map("query.q.node.n.records" -> 1L))
  }

  test("a hundred queries are kept, the oldest go first, and their gauges with them") {
    val figures = process()
    for (query <- 1 to 1000) figures.add(s"q$query", "run")
    assert(figures.counted.keySet === (901 to 1000).map(query => s"query.q$query.node.n.records").toSet)
    assert(figures.runs.snapshot().map(_.name) === (901 to 1000).map(query => s"q$query"))
  }

  test("what has stopped makes room, and takes its beans along") {
    val settings = FiguresSettings(maxNodes = 3)
    val figures = new Process(settings, _.stopped)
    for (query <- 1 to 10) {
      figures.add(s"q$query", s"run$query")
      figures.runs.stopped(s"run$query")
    }
    assert(figures.runs.snapshot().flatMap(_.nodes.map(_.id)).toSet === Set("n"))
    assert(figures.counted.isEmpty)
  }

  test("an executor, which is not told what has stopped, lets the oldest go where there is no more room") {
    val figures = process(FiguresSettings(maxNodes = 3))
    for (query <- 1 to 10) figures.add(s"q$query", "run")
    assert(figures.runs.snapshot().map(_.name) === Seq("q8", "q9", "q10"))
    assert(figures.runs.snapshot().forall(_.nodes.map(_.id) == Seq("n")))
  }

  test("when the application ends sinks may report once more") {
    val figures = process()
    figures.add("q", "run")
    figures.runs.close()
    assert(figures.counted === Map("query.q.node.n.records" -> 1L) && figures.runs.snapshot().isEmpty)
  }

  test("an event that comes after the end of the application brings nothing back") {
    val figures = process()
    figures.add("q", "run")
    figures.runs.close()
    for (query <- Seq("q", "another")) figures.add(query, "run")
    assert(figures.counted === Map("query.q.node.n.records" -> 1L) && figures.runs.snapshot().isEmpty)
  }
}
