package io.sparklatency.exposition

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import io.prometheus.metrics.config.EscapingScheme
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets
import io.prometheus.metrics.model.snapshots.CounterSnapshot
import io.prometheus.metrics.model.snapshots.Exemplars
import io.prometheus.metrics.model.snapshots.GaugeSnapshot
import io.prometheus.metrics.model.snapshots.HistogramSnapshot
import io.prometheus.metrics.model.snapshots.Labels
import io.prometheus.metrics.model.snapshots.MetricSnapshot
import io.prometheus.metrics.model.snapshots.MetricSnapshots
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.Metric

/**
 * Figures as text for Prometheus, in seconds, with the labels `app`, `query` and `node`; of clocks, `app` and `executor`; of
 * watermarks, `source`, `column` and `kind`; of latency markers, Flink's names. Latencies are classic histograms: they can be summed
 * over nodes and applications, and never go down while a query runs. An unknown figure has no line. What is of the last batch goes with
 * its run, as gauges do.
 */
object PrometheusText {

  /**
   * Upper bounds in milliseconds. They are the same for every latency, so histograms of several applications can be summed. Of what is
   * beyond the last, a week, Prometheus says a week; `sparklatency export` knows that.
   */
  val Buckets: Seq[Long] =
    Seq(5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 120000, 300000, 600000, 1800000,
      3600000, 21600000, 86400000, 604800000)

  /** A text and its content type. */
  final case class Answer(contentType: String, text: String)

  /** @param accept the scraper's HTTP Accept header. Without one the answer is the classic text format */
  def apply(
      app: String,
      queries: Seq[QueryAnswer],
      accept: Option[String],
      clocks: Seq[ExecutorClock] = Nil
  ): Answer = {
    val writer = accept.flatMap(accepted => writers.find(_.accepts(accepted))).getOrElse(writers.last)
    val out = new ByteArrayOutputStream
    writer.write(out, snapshots(app, queries, clocks), EscapingScheme.UNDERSCORE_ESCAPING)
    Answer(writer.getContentType, out.toString(UTF_8))
  }

  private val writers: Seq[ExpositionFormatWriter] =
    Seq(OpenMetricsTextFormatWriter.create(), PrometheusTextFormatWriter.create())

  private def snapshots(
      app: String,
      queries: Seq[QueryAnswer],
      clocks: Seq[ExecutorClock]
  ): MetricSnapshots = {
    // One name is one series, of the run that goes on before one that has ended.
    val answers = queries.sortBy(_.query.atMs.isEmpty).distinctBy(_.query.name)
    val shown = answers.map(_.query)
    val nodes = for (query <- shown; node <- query.nodes; (measure, figures) <- node.measures.toSeq)
      yield Shown(Labels.of("app", app, "query", query.name, "node", node.id), measure, figures)
    val markers = for (query <- shown; markers <- query.markers.toSeq; one <- markers.of)
      yield Shown(labels(app, query.name, one.key.tags), Measure.Marker, one.figures)
    // What lasts goes on growing, or is known no more: of a run that has ended nobody is to be woken by it.
    val goingOn = shown.filter(_.atMs.nonEmpty)
    val ofQueries = Metric.ofQueries.map { metric =>
      // What a counter has the first time is no growth to a scraper.
      val begin = Option.when(metric.kind == Metric.Counter)(0L)
      val points =
        for (query <- goingOn; value <- metric.read(query).orElse(begin.filter(_ => query.batches == 0)))
          yield Labels.of("app", app, "query", query.name) -> value.toDouble
      metric.kind match {
        case Metric.Counter => counter(metric.series, metric.help, points)
        case Metric.Gauge => gauge(metric.series, metric.help, points, metric.unit)
      }
    }
    val ofWatermarks = Metric.ofWatermarks.map { metric =>
      val points =
        for (query <- goingOn; watermark <- query.watermarksByKey; value <- metric.read(query, watermark))
          yield labels(app, query.name, watermark.key.tags) -> value.toDouble
      gauge(metric.series, metric.help, points, metric.unit)
    }
    // A batch query has no run that could end.
    val lasting = answers.filter(of => of.query.atMs.nonEmpty || of.query.runId.isEmpty)
    val ofParts = for {
      answer <- lasting
      ((part, node), same) <-
        answer.parts.of.groupBy(part => (part.code, part.nodes.mkString(",")))
    } yield labels(app, answer.query.name, Seq("part" -> part, "node" -> node)) -> same.map(_.ms).sum
    val ofOperators = Metric.ofOperators.map { metric =>
      val points = for (query <- lasting.map(_.query); node <- query.nodes; ms <- metric.read(node.operator))
        yield Labels.of("app", app, "query", query.name, "node", node.id) -> ms
      gauge(metric.series, metric.help, points)
    }
    val ofClocks = Metric.ofClocks.map { metric =>
      val points =
        clocks.map(clock => Labels.of("app", app, "executor", clock.executor) -> metric.ms(clock.offset))
      gauge(metric.series, metric.help, points)
    }
    val ofRecords = Measure.all.map(histogram(_, nodes))
    val counted = Metric.all.flatMap(single(_, nodes))
    val all = (ofRecords :+ histogram(Measure.Marker, markers)) ++ counted ++ ofOperators ++ ofQueries ++
      ofWatermarks ++ ofClocks :+ gauge(PartSeries, PartHelp, ofParts) :+
      gauge(FailedSeries, FailedHelp, failed(app, queries), Metric.Flag)
    new MetricSnapshots(all.filterNot(_.getDataPoints.isEmpty).asJava)
  }

  /** Two sessions may have queries of one name: then that of one may have failed while the other's goes on. */
  private def failed(app: String, queries: Seq[QueryAnswer]): Seq[(Labels, Double)] = for {
    (name, runs) <- queries.groupBy(_.query.name).toSeq
    status = runs.flatMap(_.status)
    if status.exists(_ != RunStatus.Finished)
  } yield Labels.of("app", app, "query", name) -> (if (status.contains(RunStatus.Failed)) 1.0 else 0.0)

  private def labels(app: String, query: String, tags: Seq[(String, String)]): Labels =
    Labels.of((Seq("app", app, "query", query) ++ tags.flatMap { case (name, value) =>
      Seq(name, value)
    }): _*)

  private val PartSeries = "sparklatency_age_part_seconds"
  private val PartHelp =
    "mean age of records at the commit of the last batch, by part; they add up, one may be negative"

  private val FailedSeries = "sparklatency_query_failed"
  private val FailedHelp =
    "1 if an error ended the newest run of the query, 0 while that run goes on; none if it ended otherwise"

  /** Unknown. */
  private val Created = 0L

  private final case class Shown(labels: Labels, measure: Measure, figures: MeasureSnapshot)

  private def histogram(measure: Measure, nodes: Seq[Shown]): MetricSnapshot = {
    val histogram = HistogramSnapshot.builder.name(measure.series).help(measure.help)
    nodes.filter(shown => shown.measure == measure && shown.figures.settled.count > 0).foreach { shown =>
      val total = shown.figures.settled
      val upTo = total.countsUpTo(Buckets) :+ total.count
      val each = upTo.zip(0L +: upTo).map { case (here, before) => here - before }
      val bounds = Buckets.map(_ / 1000.0) :+ Double.PositiveInfinity
      val buckets = ClassicHistogramBuckets.of(bounds.toArray, each.toArray)
      val sum = total.sumFromZero / 1000 // to a scraper, one that goes down has started again
      histogram.dataPoint(
        new HistogramSnapshot.HistogramDataPointSnapshot(buckets, sum, shown.labels, Exemplars.EMPTY, Created)
      )
    }
    histogram.build()
  }

  /** Counters, and the figures that a histogram does not have. */
  private def single(metric: Metric, nodes: Seq[Shown]): Option[MetricSnapshot] = metric.series.map { name =>
    val points = for (
      shown <- nodes if shown.measure == metric.measure; value <- metric.read(scraped(metric, shown.figures))
    )
      yield shown.labels -> value.toDouble
    metric.kind match {
      case Metric.Counter => counter(name, metric.help, points)
      case Metric.Gauge => gauge(name, metric.help, points)
    }
  }

  /** Settled counts only: to a scraper, a counter that goes down has started again. */
  private def scraped(metric: Metric, figures: MeasureSnapshot): MeasureSnapshot =
    if (metric.kind == Metric.Counter) MeasureSnapshot.of(figures.settled) else figures

  private def counter(name: String, help: String, points: Seq[(Labels, Double)]): MetricSnapshot = {
    val counter = CounterSnapshot.builder.name(name.stripSuffix("_total")).help(help)
    points.foreach { case (labels, value) =>
      counter.dataPoint(
        CounterSnapshot.CounterDataPointSnapshot.builder.labels(labels).value(value).build()
      )
    }
    counter.build()
  }

  /** @param unit what the points have; milliseconds become seconds */
  private def gauge(
      name: String,
      help: String,
      points: Seq[(Labels, Double)],
      unit: Metric.Unit = Metric.Milliseconds
  ): MetricSnapshot = {
    val gauge = GaugeSnapshot.builder.name(name).help(help)
    val divisor = if (unit == Metric.Milliseconds) 1000 else 1
    points.foreach { case (labels, value) =>
      gauge.dataPoint(
        GaugeSnapshot.GaugeDataPointSnapshot.builder.labels(labels).value(value / divisor).build()
      )
    }
    gauge.build()
  }
}
