package org.apache.spark.sql.latency.compat

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.SparkPlan

/** No trigger is one: real-time mode came with Spark 4.1. */
trait RealTimeTrigger {
  def batchDurationMs: Long
}

/** No operator is one. */
trait RealTimeStreamScanExec {
  def stream: SparkDataStream
}

/** No limit is one: it came with Spark 4.0. */
trait ReadMaxBytes {
  def maxBytes: Long
}

/** No operator is one: `transformWithState` came with Spark 4.0. */
trait TransformWithState {
  def valueDeserializer: Expression
  def groupingAttributes: Seq[Attribute]
  def dataAttributes: Seq[Attribute]
  def child: LogicalPlan
  def copy(dataAttributes: Seq[Attribute], child: LogicalPlan): LogicalPlan
}

/** No operator is one. */
trait TransformWithStateInPySparkExec

/** No operator is one: here a column with a watermark keeps it through the operators that keep state. */
trait UpdateEventTimeColumnExec {
  def child: SparkPlan
  def output: Seq[Attribute]
}
