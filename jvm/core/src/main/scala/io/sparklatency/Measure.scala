package io.sparklatency

/**
 * What is measured of a record at a node, in milliseconds. Every node has its e2e latency; commit is of the last nodes of a query,
 * the others of nodes that stand at an operator that keeps state.
 *
 * @param name  as metrics begin with it
 * @param field of the object in JSON that holds its figures
 * @param help  in half a sentence, for those who see only the name
 */
sealed abstract class Measure(val name: String, val field: String, val help: String) {

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
        "age of the records when the results of their batch were committed"
      )

  /** The e2e latency when the operator takes the record in, before its work (KIP-613's older text). */
  case object Staleness
      extends Measure("record-staleness", "staleness", "age of the records when the operator took them in")

  /** How far behind the watermark a record was that the operator dropped for it: time of the stream, not of the clock. */
  case object Lateness extends Measure(
        "record-lateness",
        "lateness",
        "distance behind the watermark of the records that the operator dropped"
      )

  val all: Seq[Measure] = Seq(E2ELatency, Commit, Staleness, Lateness)
}
