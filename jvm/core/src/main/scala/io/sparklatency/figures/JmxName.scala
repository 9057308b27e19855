package io.sparklatency.figures

import javax.management.ObjectName

/**
 * The name of an MBean that has all figures of a node in one task, in the style of Kafka Streams:
 * `sparklatency:type=stream-processor-node-metrics,thread-id=<query>-<process>,task-id=<subtopology>_<partition>,processor-node-id=<node>`.
 * Without a node it is that of the task: `type=stream-task-metrics`.
 */
object JmxName {

  def apply(process: String, query: String, task: String, node: Option[String]): ObjectName = {
    val thread = s"thread-id=${value(s"$query-$process")},task-id=$task"
    new ObjectName(node match {
      case Some(id) =>
        s"sparklatency:type=stream-processor-node-metrics,$thread,processor-node-id=${value(id)}"
      case None => s"sparklatency:type=stream-task-metrics,$thread"
    })
  }

  /** The name of the bean that has the figures of latency markers, with Flink's names as its keys. */
  def ofMarker(query: String, key: MarkerKey): ObjectName = {
    val tags = key.tags.map { case (name, tag) => s",$name=${value(tag)}" }.mkString
    new ObjectName(s"sparklatency:type=latency-marker-metrics,query=${value(query)}$tags")
  }

  /** The name of the bean that has the figures of an executor's clock. */
  def ofClock(executor: String): ObjectName =
    new ObjectName(s"sparklatency:type=clock-metrics,executor-id=${value(executor)}")

  /** As Kafka does it: what JMX would not take as it is, quoted; a plain value never begins with a quote. */
  private def value(id: String): String =
    if (id.nonEmpty && id.forall(c => c.isLetterOrDigit || "-_. %".contains(c))) id else ObjectName.quote(id)
}
