package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import io.sparklatency.FiguresSettings
import io.sparklatency.LatencyRecorder
import io.sparklatency.LatencySummary
import io.sparklatency.ManualClock
import io.sparklatency.Measure
import io.sparklatency.NodeKey
import org.apache.spark.sql.latency.LatencySource
import org.apache.spark.sql.latency.MarkOwner
import org.scalatest.funsuite.AnyFunSuite

/** The figures of a process as they come and go, as an executor keeps them. */
class LatencySourceSuite extends AnyFunSuite {
  private val clock = new ManualClock(1000)

  private def source(settings: FiguresSettings = FiguresSettings()) =
    new LatencySource(clock, settings)(_ => true)

  private def owner(query: String, run: String) = MarkOwner(NodeKey(query, "n"), Some("id"), Some(run))

  private def record: LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    recorder.record(clock.millis() * 1000)
    recorder.summary()
  }

  private def add(source: LatencySource, query: String, run: String): Unit =
    source.update(owner(query, run))(_.add("n", Measure.E2ELatency, record))

  private def counted(source: LatencySource): Map[String, Any] =
    source.metricRegistry.getGauges.asScala.collect {
      case (name, gauge) if name.endsWith(".records") => name -> gauge.getValue
    }.toMap

  test("a new run of a query begins anew") {
    val figures = source()
    for (run <- Seq("1", "1", "2")) add(figures, "q", run)
    assert(counted(figures) === Map("query.q.node.n.records" -> 1L))
  }

  test("a hundred queries are kept, the oldest go first, and their gauges with them") {
    val figures = source()
    for (query <- 1 to 1000) add(figures, s"q$query", "run")
    assert(counted(figures).keySet === (901 to 1000).map(query => s"query.q$query.node.n.records").toSet)
    assert(figures.snapshot().map(_.name) === (901 to 1000).map(query => s"q$query"))
  }

  test("what has stopped makes room, and takes its beans along") {
    val settings = FiguresSettings(maxNodes = 3)
    val figures = new LatencySource(clock, settings)(_.stopped)
    for (query <- 1 to 10) {
      add(figures, s"q$query", s"run$query")
      figures.stopped(s"run$query")
    }
    assert(figures.snapshot().flatMap(_.nodes.map(_.id)).toSet === Set("n"))
    assert(counted(figures).isEmpty)
  }

  test("an executor, which is not told what has stopped, lets the oldest go where there is no more room") {
    val figures = source(FiguresSettings(maxNodes = 3))
    for (query <- 1 to 10) add(figures, s"q$query", "run")
    assert(figures.snapshot().map(_.name) === Seq("q8", "q9", "q10"))
    assert(figures.snapshot().forall(_.nodes.map(_.id) == Seq("n")))
  }

  test("nothing is left when the application ends") {
    val figures = source()
    add(figures, "q", "run")
    figures.close()
    assert(counted(figures).isEmpty && figures.snapshot().isEmpty)
  }
}
