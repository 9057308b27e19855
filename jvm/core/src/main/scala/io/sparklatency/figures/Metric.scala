package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * One figure of a node's records. [[Metric.all]] is the only list of them; [[Metric.ofQueries]] has those of a query as a
 * whole, [[Metric.ofWatermarks]] those of its watermarks, [[Metric.ofOperators]] those of the work on a batch, [[Metric.ofClocks]]
 * those of executors. Gauges, JSON, Prometheus and the reference are made from it.
 *
 * @param measure what it is a figure of
 * @param name    in the style of Kafka's metrics
 * @param field   in JSON
 * @param read    the value, or none where it is unknown
 */
final case class Metric(
    measure: Measure,
    name: String,
    field: String,
    unit: Metric.Unit,
    kind: Metric.Kind,
    help: String
)(
    val read: MeasureSnapshot => Option[Figure]
) {

  /** The name of its series in Prometheus. Means and percentiles have none: the measure's histogram gives them. */
  def series: Option[String] = kind match {
    case Metric.Counter => Some(s"${Metric.inPrometheus(name)}_total")
    case Metric.Gauge if Metric.BesideHistogram(field) => Some(s"${Metric.inPrometheus(name)}_seconds")
    case Metric.Gauge => None
  }

  /** As JMX shows it; what is unknown is NaN, as in Kafka. */
  def value(snapshot: MeasureSnapshot): AnyRef = read(snapshot).fold[AnyRef](Double.box(Double.NaN))(typed)

  /** A value in the one type that this metric has in JMX and SQL: Long for a counter, Double for a gauge. */
  def typed(figure: Figure): AnyRef = (kind, figure) match {
    case (Metric.Counter, Figure.Whole(count)) => Long.box(count)
    case _ => Double.box(figure.toDouble)
  }
}

object Metric {
  sealed abstract class Unit(val name: String)
  case object Milliseconds extends Unit("ms")
  case object Records extends Unit("records")
  case object Markers extends Unit("markers")
  case object Tasks extends Unit("tasks")
  case object Flag extends Unit("0 or 1")

  /** A gauge covers the window, a counter everything since the start. */
  sealed abstract class Kind(val name: String)
  case object Gauge extends Kind("gauge")
  case object Counter extends Kind("counter")

  /** What a histogram does not tell. */
  private val BesideHistogram = Set("min", "max", "maxLead")

  private[sparklatency] def inPrometheus(name: String): String = s"sparklatency_${name.replace('-', '_')}"

  private val percentiles = Seq("p50" -> 50.0, "p90" -> 90.0, "p95" -> 95.0, "p99" -> 99.0, "p999" -> 99.9)

  private val ofLatency: Seq[Metric] = {
    val measure = Measure.E2ELatency
    Seq(
      counter(measure, "records", "records", "records that passed the node")(_.records),
      whole(measure, "min", "the smallest latency of a record")(_.min),
      mean(measure, "the mean latency of the records")
    ) ++ percentilesOf(measure, percentiles, "%s %% of the records have at most this latency") ++ Seq(
      whole(measure, "max", "the largest latency of a record")(_.max),
      counter(
        measure,
        "records-without-timestamp",
        "withoutTimestamp",
        "records not measured: no timestamp, or one before 1970"
      )(_.withoutTimestamp),
      counter(
        measure,
        "records-ahead-of-clock",
        "aheadOfClock",
        "records with a timestamp in the future: their latency is negative"
      )(_.aheadOfClock),
      Metric(
        measure,
        "record-lead-max",
        "maxLead",
        Milliseconds,
        Gauge,
        "the largest distance of a record's timestamp ahead of the clock"
      )(_.window.maxLead.map(Figure.Whole(_)))
    )
  }

  private val ofCommit: Seq[Metric] =
    extremes(Measure.Commit, "age of a record when its batch was committed") ++
      gaugesOf(
        Measure.Commit,
        percentiles,
        "%s %% of the records have at most this age at the commit (the figure is within 1 %%)"
      )

  private val ofStaleness: Seq[Metric] =
    extremes(Measure.Staleness, "age of a record when the operator takes it in")

  private def ofLateness(measure: Measure, dropped: String, watermark: String): Seq[Metric] =
    counter(
      measure,
      dropped,
      "records",
      s"records that the operator dropped because they were behind its $watermark"
    )(
      _.records
    ) +: (extremes(measure, s"distance of a dropped record behind the $watermark") ++
      percentilesOf(
        measure,
        percentiles.filterNot(_._1 == "p999"),
        "%s %% of the dropped records have at most this distance"
      ))

  val all: Seq[Metric] = ofLatency ++ ofCommit ++ ofStaleness ++
    ofLateness(Measure.Lateness, "records-dropped-late", "watermark of event time") ++
    ofLateness(Measure.SystemTimeLateness, "records-dropped-late-by-system-time", "system-time watermark")

  /** Those of latency markers between two places. */
  val ofMarkers: Seq[Metric] = {
    val measure = Measure.Marker
    val count = Metric(measure, "latency-count", "count", Markers, Counter, "markers that passed")(figures =>
      Some(Figure.Whole(figures.total.count))
    )
    Seq(
      count,
      whole(measure, "min", "the shortest time from the source to the node")(_.min),
      mean(measure, "the mean time from the source to the node")
    ) ++ percentilesOf(measure, percentiles, "%s %% of the markers took at most this long") :+
      whole(measure, "max", "the longest time from the source to the node")(_.max)
  }

  /** Those of each executor's clock, which no record is measured for. */
  val ofClocks: Seq[ClockMetric] = Seq(
    ClockMetric("clock-offset", "offset", "how far the executor's clock is ahead of the driver's")(_.ms),
    ClockMetric("clock-offset-bound", "bound", "how far the true offset is from that at the most")(_.boundMs)
  )

  /** Those of the operators at each node, by batch. */
  val ofOperators: Seq[OperatorMetric] = Seq(
    OperatorMetric(
      "operator-latency",
      "latency",
      "how long the operators between the node and the one before were at work for the last batch"
    )(OperatorLatency.last),
    OperatorMetric(
      "operator-latency-avg",
      "latencyMA",
      "the mean of that over the last ten batches that tell it"
    )(OperatorLatency.average)
  )

  /** Those of a query as a whole. */
  val ofQueries: Seq[QueryMetric] = Seq(
    QueryMetric("commit-age", "sinceCommit", "how long ago the last batch was committed")(_.sinceCommitMs),
    QueryMetric("commit-interval", "usually", "from one commit to the next, the median of the last ten")(
      _.usuallyMs.map(math.round)
    ),
    QueryMetric(
      "batch-duration",
      "batchDuration",
      "how long a batch takes, the median of the last ten; none in real-time and continuous mode"
    )(_.usuallyTakesMs.map(math.round)),
    QueryMetric(
      "batch-in-progress",
      "running",
      "for how long the batch in progress has run; none in real-time mode within its time, in continuous mode while epochs are committed"
    )(_.runningMs),
    QueryMetric(
      "progress-age",
      "sinceProgress",
      "for how long no task of the batch in progress has taken a record or ended, as far as is known"
    )(_.sinceProgressMs),
    QueryMetric(
      "oldest-uncommitted",
      "oldestUncommitted",
      "age of the oldest record that was there to be read and is not committed, at least; none in real-time and continuous mode"
    )(_.oldestUncommittedMs),
    QueryMetric(
      "records-lag",
      "recordsLag",
      "records that sources had when the last trigger asked them, and that it left; only of sources that tell it, as Kafka does",
      Records
    )(_.recordsLag),
    QueryMetric(
      "rows-dropped-late",
      "droppedLate",
      "rows that operators of the query dropped as late, as Spark counts them: of an aggregation what it had added up before",
      Records,
      Counter
    )(_.rowsDroppedLate),
    QueryMetric(
      "tasks-failed",
      "tasksFailed",
      "attempts of tasks that have failed since the query began: Spark runs such a task again, and its records wait",
      Tasks,
      Counter
    )(_.failedTasks.map(_.count)),
    QueryMetric(
      "watermark-lag",
      "watermarkLag",
      "how far the watermark is behind the clock"
    )(_.watermarkLagMs)
  )

  /** Those of each watermark of a query. */
  val ofWatermarks: Seq[WatermarkMetric] = Seq(
    WatermarkMetric(
      "source-watermark-lag",
      "lag",
      "lag",
      Milliseconds,
      "how far the source's own watermark is behind the clock"
    )(_.watermarkLagMs(_)),
    WatermarkMetric(
      "source-watermark-idle",
      "idleSince",
      "idle",
      Milliseconds,
      "for how long the source has been silent, if that is so long that nobody waits for it"
    )(_.idleMs(_)),
    WatermarkMetric(
      "source-watermark-holds-back",
      "holdsBack",
      "holds_back",
      Flag,
      "1 if results of the query wait for it, else 0"
    )((query, watermark) => Some(if (watermark.holdsBack && query.usesWatermark) 1 else 0))
  )

  def of(measure: Measure): Seq[Metric] = all.filter(_.measure == measure)

  private def extremes(measure: Measure, what: String): Seq[Metric] = Seq(
    whole(measure, "min", s"the smallest $what")(_.min),
    mean(measure, s"the mean $what"),
    whole(measure, "max", s"the largest $what")(_.max)
  )

  private def percentilesOf(measure: Measure, percentiles: Seq[(String, Double)], help: String): Seq[Metric] =
    gaugesOf(measure, percentiles, help + " (the figure is at most 1 %% too high)")

  private def gaugesOf(measure: Measure, percentiles: Seq[(String, Double)], help: String): Seq[Metric] =
    percentiles.map { case (name, percent) =>
      whole(
        measure,
        name,
        help.format(BigDecimal(percent).bigDecimal.stripTrailingZeros.toPlainString)
      )(_.percentile(percent))
    }

  private def mean(measure: Measure, help: String): Metric =
    gauge(measure, "avg", help)(_.avg.map(Figure.Mean(_)))

  private def whole(measure: Measure, stat: String, help: String)(read: LatencySummary => Option[Long]) =
    gauge(measure, stat, help)(read(_).map(Figure.Whole(_)))

  private def gauge(
      measure: Measure,
      stat: String,
      help: String
  )(read: LatencySummary => Option[Figure]): Metric =
    Metric(measure, s"$measure-$stat", stat, Milliseconds, Gauge, help)(snapshot => read(snapshot.window))

  private def counter(
      measure: Measure,
      name: String,
      field: String,
      help: String
  )(read: LatencySummary => Long): Metric =
    Metric(measure, name, field, Records, Counter, help)(snapshot => Some(Figure.Whole(read(snapshot.total))))
}
