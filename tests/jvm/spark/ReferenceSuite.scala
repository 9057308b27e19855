package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path

import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.answer.Parts
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Metric
import io.sparklatency.spark.base.LatencyConf
import org.scalatest.funsuite.AnyFunSuite

/** Two files are made of the tables of metrics and settings: what Python knows of metrics, and the reference. */
class ReferenceSuite extends AnyFunSuite {
  private val python = Path.of("../../python")

  test("the metrics that Python knows are those there are") {
    assertMade(python.resolve("src/sparklatency/metrics.json"), json)
  }

  test("the reference holds every metric and every setting") {
    assertMade(python.resolve("docs/reference.md"), reference)
  }

  private def assertMade(file: Path, made: String): Unit = {
    if (sys.env.contains("REFERENCE_WRITE")) {
      Files.createDirectories(file.getParent)
      Files.writeString(file, made)
    }
    assert(
      Files.exists(file) && Files.readString(file) === made,
      s"$file is not what the code says: make reference writes it anew"
    )
  }

  private def json: String = {
    val mapper = new ObjectMapper
    def row(name: String, measure: String, kind: String, unit: String, help: String) = {
      val json = mapper.createObjectNode().put("name", name).put("measure", measure).put("kind", kind)
      s"  ${mapper.writeValueAsString(json.put("unit", unit).put("help", help))}"
    }
    val ofNodes = Metric.all.map(of => row(of.name, of.measure.name, of.kind.name, of.unit.name, of.help))
    val ofClocks = Metric.ofClocks.map(of => row(of.name, "clock", "gauge", "ms", of.help))
    val ofQueries =
      (Metric.ofQueries ++ Parts.metrics).map(of =>
        row(of.name, "query", of.kind.name, of.unit.name, of.help)
      )
    val ofWatermarks =
      Metric.ofWatermarks.map(of => row(of.name, "watermark", "gauge", of.unit.name, of.help))
    val ofOperators = Metric.ofOperators.map(of => row(of.name, "operator-latency", "gauge", "ms", of.help))
    val ofMarkers = Metric.ofMarkers.map(of => row(of.name, "marker", of.kind.name, of.unit.name, of.help))
    (ofNodes ++ ofOperators ++ ofQueries ++ ofWatermarks ++ ofMarkers ++ ofClocks).mkString(
      "[\n",
      ",\n",
      "\n]\n"
    )
  }

  private def reference: String = (
    Seq(
      "# Reference",
      "",
      "`make reference` makes this page from the code's own tables. [What is measured](measured.md) explains the words.",
      "",
      "## Metrics",
      "",
      "* A gauge covers the window: its last samples (`spark.sparklatency.num.samples` times `sample.window`).",
      "* A counter covers everything since the query began.",
      "* Prometheus has seconds, also by the rules of jmx_exporter, and so has OpenTelemetry. Everything else has milliseconds.",
      "* JMX and Dropwizard use the name in the first column.",
      "* REST uses the field. Python writes `max_lead` for `maxLead`. Each section says which object holds the fields.",
      ""
    ) ++ Measure.all.flatMap(section) ++ Seq(
      "### Of a query as a whole",
      "",
      "On the driver. `rows-dropped-late` and `tasks-failed` are counters, all others are gauges: in milliseconds, `records-lag` in records. In REST: the object `progress` of a query. In Prometheus, in " +
        "seconds, records and tasks, with the labels `app` and `query`. Beside them `sparklatency_age_part_seconds`: the mean age at the commit of the last batch, by `part` and `node`; " +
        "in real-time and continuous mode the mean age over the window. And `sparklatency_query_failed`: 1 if an error ended the newest run of the query, 0 while that run goes on.",
      "",
      "| name | field | series | |",
      "|---|---|---|---|"
    ) ++ Metric.ofQueries.map(of => s"| `${of.name}` | `${of.field}` | `${of.series}` | ${of.help} |") ++ Seq(
      "",
      "### Of the parts of a query's age",
      "",
      "Gauges on the driver, in milliseconds, for JMX and Dropwizard, which have no labels. Those of one batch add up to the mean age at the commit, and one " +
        "may be negative. A gauge without a value is of a part that is not known. REST has the list `parts`, Prometheus " +
        "`sparklatency_age_part_seconds`: both tell them by node.",
      "",
      "| name | part | |",
      "|---|---|---|"
    ) ++ Parts.metrics.map(of => s"| `${of.name}` | `${of.field}` | ${of.help} |") ++ Seq(
      "",
      "### Of each watermark of a query",
      "",
      "Gauges on the driver. In SQL: the column `watermarks`. In Prometheus, milliseconds as seconds, with the labels `app`, `query`, " +
        "`source`, `column` and `kind` (`event-time` or `system-time`). The last one is a number without a unit.",
      "",
      "In REST: the list `watermarks` of a batch, which says how it was at the commit. So its `idleSince` is a time, that of the " +
        "source's last record, and not how long ago that was. It is empty if the source is not idle. Python writes `idle_since` and " +
        "`holds_back`. There `holdsBack` says which watermark is the query's, also where nothing in the query goes by it.",
      "",
      "| name | unit | field | SQL | series | |",
      "|---|---|---|---|---|---|"
    ) ++ Metric.ofWatermarks.map(of =>
      s"| `${of.name}` | ${of.unit.name} | `${of.field}` | `${of.column}` | `${of.series}` | ${of.help} |"
    ) ++ Seq(
      "",
      "### Of the operators at a node",
      "",
      "Gauges on the driver, in milliseconds, of the last batches. In REST: the object `operator` of a node. In Prometheus, in seconds.",
      "",
      "| name | field | series | |",
      "|---|---|---|---|"
    ) ++ Metric.ofOperators.map(of =>
      s"| `${of.name}` | `${of.field}` | `${of.series}` | ${of.help} |"
    ) ++ Seq(
      "",
      "### Of latency markers",
      "",
      "On the driver, in milliseconds, for each [source, node and partition](markers.md#histograms). In REST: the object `latency` in " +
        s"the list `markers.of` of a query. Prometheus' histogram, in seconds: `${Measure.Marker.series}`.",
      "",
      "| name | kind | unit | field | |",
      "|---|---|---|---|---|"
    ) ++ Metric.ofMarkers.map(of =>
      s"| `${of.name}` | ${of.kind.name} | ${of.unit.name} | `${of.field}` | ${of.help} |"
    ) ++ Seq(
      "",
      "### Of an executor's clock",
      "",
      "Gauges on the driver, in milliseconds. In REST: the list `clocks`. In Prometheus, in seconds, with the labels `app` and " +
        "`executor`.",
      "",
      "| name | field | series | |",
      "|---|---|---|---|"
    ) ++ Metric.ofClocks.map(of => s"| `${of.name}` | `${of.field}` | `${of.series}` | ${of.help} |") ++ Seq(
      "",
      "## Settings",
      "",
      "| key | default | allowed | |",
      "|---|---|---|---|"
    ) ++ LatencyConf.documented.map(row) ++ Seq(
      "",
      "Figures are not part of a checkpoint. You may change levels, marks and settings between restarts of a query, with [one",
      "exception](ingestion.md#without-a-reader): state that has a column only because a node asks for it.",
      ""
    )
  ).mkString("\n")

  private def section(measure: Measure): Seq[String] = {
    val place =
      if (measure == Measure.E2ELatency) "fields of the node itself" else s"the object `${measure.field}`"
    val rows = Metric.of(measure).map { metric =>
      val series = metric.series.fold("")(name => s"`$name`")
      s"| `${metric.name}` | ${metric.kind.name} | ${metric.unit.name} | `${metric.field}` | $series | ${metric.help} |"
    }
    Seq(
      s"### ${measure.name}",
      "",
      s"${measure.help.capitalize}. In REST and Python: $place. Prometheus' histogram: `${measure.series}`.",
      "",
      "| name | kind | unit | field | beside the histogram | |",
      "|---|---|---|---|---|---|"
    ) ++ rows :+ ""
  }

  private def row(key: LatencyConf.Key[_]): String = {
    val default = if (key.default.isEmpty) "" else s"`${key.default}`"
    s"| `${key.name}` | $default | ${key.allowed.stripSuffix(",")} | ${key.doc} |"
  }
}
