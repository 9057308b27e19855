package io.sparklatency

import java.nio.charset.StandardCharsets.UTF_8
import javax.management.ObjectName

/**
 * The name of a node's metric: `query.<query>.node.<node>.<metric>`. Two different triples never share a name, and none is a
 * prefix of another followed by a dot, so that Spark's removal of sources by prefix cannot take a neighbour's metrics.
 */
object MetricName {

  def apply(key: NodeKey, metric: Metric): String =
    s"query.${escape(key.query)}.node.${escape(key.node)}.${metric.name}"

  /** Letters, digits, `_` and `-` stay; every other byte of the UTF-8 form becomes `%XX`, as in a URL. */
  def escape(id: String): String = id.getBytes(UTF_8).map { byte =>
    val char = (byte & 0xff).toChar
    if (isPlain(char)) char.toString else f"%%${byte & 0xff}%02X"
  }.mkString

  private def isPlain(c: Char): Boolean =
    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'
}

/**
 * The name of an MBean that has all figures of a node in one task, in the style of Kafka Streams:
 * `sparklatency:type=stream-processor-node-metrics,thread-id=<query>-<process>,task-id=<subtopology>_<partition>,processor-node-id=<node>`.
 * Without a node it is that of the task: `type=stream-task-metrics`.
 */
object BeanName {

  def apply(process: String, query: String, task: String, node: Option[String]): ObjectName = {
    val thread = s"thread-id=${value(s"$query-$process")},task-id=$task"
    new ObjectName(node match {
      case Some(id) =>
        s"sparklatency:type=stream-processor-node-metrics,$thread,processor-node-id=${value(id)}"
      case None => s"sparklatency:type=stream-task-metrics,$thread"
    })
  }

  /** As Kafka does it: what JMX would not take as it is, quoted; a plain value never begins with a quote. */
  private def value(id: String): String =
    if (id.nonEmpty && id.forall(c => c.isLetterOrDigit || "-_. %".contains(c))) id else ObjectName.quote(id)
}

/** A partition of a stretch of plan without a shuffle; stretches are numbered from the sources. */
final case class TaskId(subtopology: Int, partition: Int) {
  override def toString: String = s"${subtopology}_$partition"
}

/** A node of a query: both stay the same when the query is restarted. */
final case class NodeKey(query: String, node: String)
