package io.sparklatency

/**
 * One figure of a node. [[Metric.all]] is the only list of them: gauges, JSON and the README's reference are made from it.
 *
 * @param name  in the style of Kafka's metrics
 * @param field in JSON
 * @param read  the value, or none where it is unknown
 */
final case class Metric(name: String, field: String, unit: Metric.Unit, kind: Metric.Kind, help: String)(
    val read: NodeSnapshot => Option[Double]
)

object Metric {
  sealed abstract class Unit(val name: String)
  case object Milliseconds extends Unit("ms")
  case object Records extends Unit("records")

  /** A gauge covers the window, a counter everything since the start. */
  sealed abstract class Kind(val name: String)
  case object Gauge extends Kind("gauge")
  case object Counter extends Kind("counter")

  private val percentiles = Seq("p50" -> 50.0, "p90" -> 90.0, "p95" -> 95.0, "p99" -> 99.0, "p999" -> 99.9)

  val all: Seq[Metric] = Seq(
    counter("records", "records", "records that passed the node")(_.records),
    latency("min", "the least latency of a record")(_.min.map(_.toDouble)),
    latency("avg", "the mean latency of the records")(_.avg)
  ) ++ percentiles.map { case (name, percent) =>
    latency(name, s"the latency that $percent % of the records do not exceed, at most 1 % too high")(
      _.percentile(percent).map(_.toDouble)
    )
  } ++ Seq(
    latency("max", "the greatest latency of a record")(_.max.map(_.toDouble)),
    counter(
      "records-without-timestamp",
      "withoutTimestamp",
      "records not measured: no timestamp, or one before 1970"
    )(
      _.withoutTimestamp
    ),
    counter(
      "records-ahead-of-clock",
      "aheadOfClock",
      "records with a timestamp in the future, measured as negative"
    )(
      _.aheadOfClock
    ),
    Metric(
      "record-lead-max",
      "maxLead",
      Milliseconds,
      Gauge,
      "how far the furthest of those was ahead of the clock"
    )(
      _.window.maxLead.map(_.toDouble)
    )
  )

  private def latency(stat: String, help: String)(read: LatencySummary => Option[Double]): Metric =
    Metric(s"record-e2e-latency-$stat", stat, Milliseconds, Gauge, help)(snapshot => read(snapshot.window))

  private def counter(name: String, field: String, help: String)(read: NodeSnapshot => Long): Metric =
    Metric(name, field, Records, Counter, help)(snapshot => Some(read(snapshot).toDouble))
}
