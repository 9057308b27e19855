package org.apache.spark.sql.latency.planning

/**
 * A source of a query, as nodes are named after it. Immutable.
 *
 * @param ordinal its place among the query's sources, if known
 */
private[latency] final case class RecordSource(name: String, ordinal: Option[Int])

/**
 * Names sources by what they say of themselves. Costs one or two regular expressions for each source of a plan. Without
 * state, for any thread.
 */
private[latency] object RecordSource {
  val Iceberg = "iceberg"
  val Paimon = "paimon"
  private val Kafka = """Kafka\w*(?:\[|\(strategy=)\w+\[(.*?)\](?:\]$|, start=)""".r.unanchored
  private val Files = """FileStreamSource\[(?:.*/)?([^/\]]+)/*\]""".r
  private val IcebergScan = """^Iceberg\w*Scan\(table=(?:[^,]*/)?([^,/]+)""".r.unanchored
  private val Instance = """(?:[\w$]+\.)*([\w$]+)@\p{XDigit}+""".r
  private val Plumbing = "(MicroBatch|Continuous)?(Stream|Source|Relation|Scan)(V2|With\\w+)?$|\\$"

  /** `kafka[orders]`, `rate`, `file[events]`, …: sources have no names, so this reads their description. */
  def name(described: AnyRef): String =
    known(described.toString).getOrElse(ofClass(described.getClass.getSimpleName))

  /** The same of what a source has said of itself. One that says nothing has the name of its class there. */
  def named(description: String): String = known(description).getOrElse(description match {
    case Instance(of) => ofClass(of.substring(of.lastIndexOf('$') + 1))
    case other => other
  })

  private def known(description: String): Option[String] = description match {
    case IcebergScan(table) => Some(s"$Iceberg[${table.take(128)}]")
    case Kafka(topics) => Some(s"kafka[${topics.take(128)}]")
    case Files(folder) => Some(s"file[${folder.take(128)}]")
    case _ => None
  }

  private def ofClass(name: String): String = name match {
    case rate if rate.startsWith("RatePerMicroBatch") => "rate-micro-batch"
    case rate if rate.startsWith("RateStream") => "rate"
    case other => StatefulOperators.hyphenated(other.replaceAll(Plumbing, ""))
  }

  /** The same of a stream. Iceberg's says nothing of itself, but its scan does. */
  def name(stream: AnyRef, scan: AnyRef): String =
    if (kind(name(scan)) == Iceberg) name(scan) else name(stream)

  /** What is read, whichever topic or table it is. */
  def kind(name: String): String = name.takeWhile(_ != '[')

  /** Whether this source's column `timestamp` is the record timestamp. */
  def hasTimestamp(name: String): Boolean = name.startsWith("kafka") || name.startsWith("rate")
}
