package io.sparklatency.figures

/**
 * What is measured of a record at a node, in milliseconds. Every node has an e2e latency. The last nodes of a query have a commit
 * latency. Nodes at an operator that keeps state have staleness and lateness.
 *
 * @param name  the beginning of its metrics' names
 * @param field the object in JSON that holds its figures
 * @param help  half a sentence for readers who see only the name
 */
sealed abstract class Measure(val name: String, val field: String, val help: String) extends Serializable {

  /** The name of its histogram in Prometheus. */
  def series: String = s"${Metric.inPrometheus(name)}_seconds"

  override def toString: String = name
}

object Measure {

  /** The wall clock when the record leaves the node, minus its timestamp. */
  case object E2ELatency
      extends Measure("record-e2e-latency", "latency", "age of the records when they left the node")

  /** The time when the results of the record's batch could be seen, minus its timestamp. */
  case object Commit extends Measure(
        "record-commit-latency",
        "commit",
        "age of the records when their batch was committed"
      )

  /** The e2e latency when the operator takes the record in, before its work (KIP-613's older text). */
  case object Staleness
      extends Measure("record-staleness", "staleness", "age of the records when the operator took them in")

  /** How far behind the watermark a dropped record was, where that goes by events. This is time of the stream, not of the clock. */
  case object Lateness extends Measure(
        "record-lateness",
        "lateness",
        "how far behind the watermark of event time the records were that the operator dropped"
      )

  /** The same of a record that a system-time watermark dropped: so it came that much too late by the clock. */
  case object SystemTimeLateness extends Measure(
        "record-system-time-lateness",
        "systemTimeLateness",
        "how far behind a system-time watermark the records were that the operator dropped"
      )

  /** How long a latency marker took from its source to a node. No record is measured for it, so no node has it by itself. */
  case object Marker
      extends Measure("latency", "latency", "how long latency markers took from their source to a node") {
    override def series: String = "sparklatency_marker_latency_seconds"
  }

  /** Those of records. */
  val all: Seq[Measure] = Seq(E2ELatency, Commit, Staleness, Lateness, SystemTimeLateness)
}
