package org.apache.spark.sql.latency.marking

import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.types.TimestampType

/**
 * The timestamp of a node that has none. Its records are counted and not measured. Latency markers pass it all the same, and its
 * operators are seen at work. Without markers nobody would be served by such a node. Reads one setting, in the thread that plans or
 * analyzes.
 */
private[latency] object NoTimestamp {

  /** None where the query has no markers. */
  def in(session: SparkSession): Option[Expression] =
    Option.when(LatencyConf(session).markers.isOn)(Literal(null, TimestampType))

  /** Whether it is one: no column, and so no name of a column. */
  def is(timestamp: Expression): Boolean = timestamp match {
    case Literal(null, _) => true
    case _ => false
  }
}
