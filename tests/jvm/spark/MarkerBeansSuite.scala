package io.sparklatency.spark

import java.lang.management.ManagementFactory
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.StreamingQuery

/** Latency markers in the places where Spark shows metrics: its sinks and JMX. */
class MarkerBeansSuite extends MarkersTest {
  test("gauges have Flink's names, are there as long as the run, forget by time, and go on with a new run") {
    withSettings(on: _*) {
      def of(query: StreamingQuery)(check: => Unit): Unit =
        try check
        finally query.stop()
      def latest = gauges.filter { case (name, _) => name.startsWith("query.markers_gauges.latency.") }
      val gauge =
        "query.markers_gauges.latency.source_id.source.operator_id.source.operator_subtask_index.0.latency"
      for (run <- 1 to 2) {
        val input = stream
        val query = start(marked(input), "markers_gauges")
        of(query) {
          input.addData(ago(1))
          processAll(query)
          assert(latest(s"$gauge-count") === 1L && latest(s"$gauge-max") === 0.0, run)
          clock.advance(60000)
          assert(latest(s"$gauge-max").asInstanceOf[Double].isNaN && latest(s"$gauge-count") === 1L)
        }
        assert(latest.isEmpty)
      }
    }
  }

  private val server = ManagementFactory.getPlatformMBeanServer

  /** Of each MBean of a query, by its tags: the attributes of these names. */
  private def beans(query: String)(attributes: String*): Map[Seq[String], Seq[Any]] =
    server.queryNames(
      new ObjectName(s"sparklatency:type=latency-marker-metrics,query=$query,*"),
      null
    ).asScala.map {
      name =>
        val tags = Seq("source_id", "operator_id", "operator_subtask_index")
        tags.flatMap(Beans.key(name, _)) -> attributes.map(server.getAttribute(name, _))
    }.toMap

  test("JMX has an MBean for each histogram, as long as the run") {
    withSettings(atEnds ++ on: _*) {
      val query = start(line.withColumn("x", blocking(20)), "markers_beans")
      try {
        processAll(query)
        latencyOf("markers_beans")
        assert(beans("markers_beans")("latency-count", "latency-min", "latency-p99", "latency-max") === Map(
          Seq(source, source, "0") -> Seq(1L, 20.0, 20.0, 20.0),
          Seq(source, "sink", "0") -> Seq(1L, 20.0, 20.0, 20.0),
          Seq(source, "__commit__") -> Seq(1L, 20.0, 20.0, 20.0)
        ))
        clock.advance(60000)
        val later = beans("markers_beans")("latency-count", "latency-max")
        assert(later.size === 3)
        assert(later.values.forall {
          case Seq(1L, max: Double) => max.isNaN
          case _ => false
        })
      } finally query.stop()
      latencyOf("markers_beans")
      assert(beans("markers_beans")() === Map.empty)
    }
  }
}
