package io.sparklatency.figures

import java.nio.charset.StandardCharsets.UTF_8

/**
 * The name of a node's metric: `query.<query>.node.<node>.<metric>`. Two different triples never share a name, and none is a
 * prefix of another followed by a dot, so that Spark's removal of sources by prefix cannot take a neighbour's metrics.
 */
object DropwizardName {

  def apply(key: NodeKey, metric: Metric): String =
    of(key, metric.name)

  def apply(key: NodeKey, metric: OperatorMetric): String = of(key, metric.name)

  /** That of a query as a whole: `query.<query>.<metric>`. No such metric is called `node`. */
  def ofQuery(query: String, metric: QueryMetric): String = s"query.${escape(query)}.${metric.name}"

  /**
   * That of latency markers, with Flink's names in it:
   * `query.<query>.latency.source_id.<node>.operator_id.<node>.operator_subtask_index.<partition>.<metric>`. No metric of a query is
   * called `latency`.
   */
  def ofMarker(query: String, key: MarkerKey, metric: Metric): String =
    tagged(query, "latency", key.tags, metric.name)

  /**
   * That of a watermark: `query.<query>.watermark.source.<source>.column.<column>.kind.<kind>.<metric>`. No metric of a query is called
   * `watermark`.
   */
  def ofWatermark(query: String, key: WatermarkKey, metric: WatermarkMetric): String =
    tagged(query, "watermark", key.tags, metric.name)

  /** That of an executor's clock: `executor.<executor>.<metric>`, which no name of a node begins like. */
  def ofClock(executor: String, metric: ClockMetric): String =
    s"executor.${escape(executor)}.${metric.name}"

  private def tagged(query: String, what: String, tags: Seq[(String, String)], metric: String): String = {
    val named = tags.map { case (name, value) => s"$name.${escape(value)}" }
    (Seq("query", escape(query), what) ++ named :+ metric).mkString(".")
  }

  private def of(key: NodeKey, metric: String): String =
    s"query.${escape(key.query)}.node.${escape(key.node)}.$metric"

  /** Letters, digits, `_` and `-` stay; every other byte of the UTF-8 form becomes `%XX`, as in a URL. */
  def escape(id: String): String =
    if (id.forall(isPlain)) id
    else id.getBytes(UTF_8).map { byte =>
      val char = (byte & 0xff).toChar
      if (isPlain(char)) char.toString else f"%%${byte & 0xff}%02X"
    }.mkString

  private def isPlain(c: Char): Boolean =
    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'
}
