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
}
