package io.sparklatency

/**
 * One figure of a node. [[Metric.all]] is the only list of them: gauges, JSON, Prometheus and the reference are made from it.
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
    val read: NodeSnapshot => Option[Double]
) {

  /** The name of its own series in Prometheus. Means and percentiles have none: they come from the measure's histogram. */
  def series: Option[String] = kind match {
    case Metric.Counter => Some(s"${Metric.inPrometheus(name)}_total")
    case Metric.Gauge if Metric.BesideHistogram(field) => Some(s"${Metric.inPrometheus(name)}_seconds")
    case Metric.Gauge => None
  }

  /** As JMX shows it: counters are whole numbers; what is unknown is NaN, as in Kafka. */
  def value(snapshot: NodeSnapshot): AnyRef = (kind, read(snapshot)) match {
    case (Metric.Counter, count) => Long.box(count.fold(0L)(_.toLong))
    case (Metric.Gauge, value) => Double.box(value.getOrElse(Double.NaN))
  }
}

object Metric {
  sealed abstract class Unit(val name: String)
  case object Milliseconds extends Unit("ms")
  case object Records extends Unit("records")

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
      gauge(measure, "min", "the least latency of a record")(_.min.map(_.toDouble)),
      gauge(measure, "avg", "the mean latency of the records")(_.avg)
    ) ++ percentilesOf(measure, percentiles, "the latency that %s %% of the records do not exceed") ++ Seq(
      gauge(measure, "max", "the greatest latency of a record")(_.max.map(_.toDouble)),
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
        "records with a timestamp in the future, measured as negative"
      )(_.aheadOfClock),
      Metric(
        measure,
        "record-lead-max",
        "maxLead",
        Milliseconds,
        Gauge,
        "how far the furthest of those was ahead of the clock"
      )(_.window.maxLead.map(_.toDouble))
    )
  }

  private val ofCommit: Seq[Metric] =
    extremes(Measure.Commit, "age of a record when the results of its batch were committed") ++
      gaugesOf(
        Measure.Commit,
        percentiles,
        "the age at the commit that %s %% of the records do not exceed, within 1 %%"
      )

  private val ofStaleness: Seq[Metric] =
    extremes(Measure.Staleness, "age of a record when the operator takes it in")

  private val ofLateness: Seq[Metric] =
    counter(
      Measure.Lateness,
      "records-dropped-late",
      "records",
      "records that the operator dropped, behind its watermark"
    )(
      _.records
    ) +: (extremes(Measure.Lateness, "distance behind the watermark of a record that was dropped") ++
      percentilesOf(
        Measure.Lateness,
        percentiles.filterNot(_._1 == "p999"),
        "the distance that %s %% of them do not exceed"
      ))

  val all: Seq[Metric] = ofLatency ++ ofCommit ++ ofStaleness ++ ofLateness

  def of(measure: Measure): Seq[Metric] = all.filter(_.measure == measure)

  private def extremes(measure: Measure, what: String): Seq[Metric] = Seq(
    gauge(measure, "min", s"the least $what")(_.min.map(_.toDouble)),
    gauge(measure, "avg", s"the mean $what")(_.avg),
    gauge(measure, "max", s"the greatest $what")(_.max.map(_.toDouble))
  )

  private def percentilesOf(measure: Measure, percentiles: Seq[(String, Double)], help: String): Seq[Metric] =
    gaugesOf(measure, percentiles, help + ", at most 1 %% too high")

  private def gaugesOf(measure: Measure, percentiles: Seq[(String, Double)], help: String): Seq[Metric] =
    percentiles.map { case (name, percent) =>
      gauge(
        measure,
        name,
        help.format(BigDecimal(percent).bigDecimal.stripTrailingZeros.toPlainString)
      )(_.percentile(percent).map(_.toDouble))
    }

  private def gauge(
      measure: Measure,
      stat: String,
      help: String
  )(read: LatencySummary => Option[Double]): Metric =
    Metric(measure, s"$measure-$stat", stat, Milliseconds, Gauge, help)(snapshot => read(snapshot.window))

  private def counter(
      measure: Measure,
      name: String,
      field: String,
      help: String
  )(read: LatencySummary => Long): Metric =
    Metric(measure, name, field, Records, Counter, help)(snapshot => Some(read(snapshot.total).toDouble))
}
