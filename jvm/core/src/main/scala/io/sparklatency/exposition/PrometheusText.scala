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
import io.sparklatency.figures.QuerySnapshot

/**
 * Figures as text for Prometheus, in seconds, with the labels `app`, `query` and `node`; of clocks, `app` and `executor`; of
 * watermarks, `source`, `column` and `kind`; of latency markers, Flink's names. Latencies are classic histograms: they can be summed
 * over nodes and applications, and never go down while a query runs. An unknown figure has no line. What is of the last batch goes with
 * its run, as gauges do. What is of all batches stays for two minutes more, for a scraper that has not seen the last of them.
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

  /** For how long the figures of a run stay, from its last commit on, if it has ended since. */
  private val EndedMs = 120000L

  /**
   * @param accept the scraper's HTTP Accept header. Without one the answer is the classic text format
   * @param nowMs  none where time does not go on, as in a History Server
   */
  def apply(
      app: String,
      queries: Seq[QueryAnswer],
      accept: Option[String],
      clocks: Seq[ExecutorClock] = Nil,
      nowMs: Option[Long] = None
  ): Answer = {
    val writer = accept.flatMap(accepted => writers.find(_.accepts(accepted))).getOrElse(writers.last)
    val out = new ByteArrayOutputStream
    writer.write(out, snapshots(app, queries, clocks, nowMs), EscapingScheme.UNDERSCORE_ESCAPING)
    Answer(writer.getContentType, out.toString(UTF_8))
  }

  private val writers: Seq[ExpositionFormatWriter] =
    Seq(OpenMetricsTextFormatWriter.create(), PrometheusTextFormatWriter.create())

  private def snapshots(
      app: String,
      queries: Seq[QueryAnswer],
      clocks: Seq[ExecutorClock],
      nowMs: Option[Long]
  ): MetricSnapshots = {
    // One name is one series, of the run that goes on before one that has ended.
    val answers = queries.sortBy(_.query.atMs.isEmpty).distinctBy(_.query.name)
    val shown = answers.map(_.query)
    val counting = shown.filterNot(query => nowMs.exists(isLongOver(query, _)))
      .map(query => if (hasEnded(query) && query.hasNoEnd) query.afterWindow else query)
    val nodes = for {
      query <- counting
      node <- query.nodes
      // Of the window: one that is dated wrong is not to make all after it look so.
      ages = node.measures.get(Measure.E2ELatency).map(_.window)
      isDatedAhead = ages.exists(of => query.isDatedAhead(node, of.maxLead))
      (measure, figures) <- node.measures.toSeq
    } yield Shown(
      Labels.of("app", app, "query", query.name, "node", node.id),
      measure,
      figures,
      isDatedAhead
    )
    val markers = for (query <- counting; markers <- query.markers.toSeq; one <- markers.of)
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
    val lasting = answers.filterNot(of => hasEnded(of.query))
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

  /** A batch query has no run that could end. */
  private def hasEnded(query: QuerySnapshot): Boolean = query.atMs.isEmpty && query.runId.nonEmpty

  /** Where no batch ends for minutes, or ever, nobody knows when a run ended: the last commit does not tell it. */
  private def isLongOver(query: QuerySnapshot, nowMs: Long): Boolean =
    hasEnded(query) && !query.hasNoEnd && query.lastBatch.forall(nowMs - _.committedMs >= EndedMs)

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

  private final case class Shown(
      labels: Labels,
      measure: Measure,
      figures: MeasureSnapshot,
      isDatedAhead: Boolean = false
  )

  private def histogram(measure: Measure, nodes: Seq[Shown]): MetricSnapshot = {
    val histogram = HistogramSnapshot.builder.name(measure.series).help(measure.help)
    // Of the first batch it is 0 while the batch runs. To a scraper, what a series begins with is no growth.
    nodes.filter(shown => shown.measure == measure && shown.figures.total.count > 0).foreach { shown =>
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
    val points = for {
      shown <- nodes
      if shown.measure == metric.measure && !(shown.isDatedAhead && metric.field == AheadOfClock)
      value <- scraped(metric, shown.figures)
    } yield shown.labels -> value
    metric.kind match {
      case Metric.Counter => counter(name, metric.help, points)
      case Metric.Gauge => gauge(name, metric.help, points)
    }
  }

  /** A counter of clocks that differ. Results that are dated ahead say nothing of clocks. */
  private val AheadOfClock = "aheadOfClock"

  /**
   * Of counts, settled ones only: to a scraper, one that goes down has started again. The maximum is that of all that the histogram has
   * taken in within the window, too: a percentile of the histogram is not more than that.
   */
  private def scraped(metric: Metric, figures: MeasureSnapshot): Option[Double] = metric.kind match {
    case Metric.Counter => metric.read(MeasureSnapshot.of(figures.settled)).map(_.toDouble)
    case Metric.Gauge =>
      val settled = figures.settledMax.filter(_ => metric.field == "max")
      (metric.read(figures).map(_.toDouble) ++ settled.map(_.toDouble)).maxOption
  }

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
