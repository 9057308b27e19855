package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path

import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.Metric
import org.scalatest.funsuite.AnyFunSuite

/** What Python knows of the table of metrics, for rules and dashboards, is a file that is made of the table. */
class MetricTableSuite extends AnyFunSuite {
  private val file = Path.of("../../python/src/sparklatency/metrics.json")

  test("the metrics that Python knows are those there are") {
    val made = table
    if (sys.env.contains("METRIC_TABLE_WRITE")) Files.writeString(file, made)
    val remedy = "METRIC_TABLE_WRITE=1 make test-spark-4.2 writes it anew"
    assert(Files.exists(file) && Files.readString(file) === made, s"$file differs from Metric.all: $remedy")
  }

  private def table: String = {
    val mapper = new ObjectMapper
    Metric.all.map { metric =>
      val json = mapper.createObjectNode().put("name", metric.name).put("measure", metric.measure.name)
        .put("kind", metric.kind.name).put("unit", metric.unit.name).put("help", metric.help)
      s"  ${mapper.writeValueAsString(json)}"
    }.mkString("[\n", ",\n", "\n]\n")
  }
}
