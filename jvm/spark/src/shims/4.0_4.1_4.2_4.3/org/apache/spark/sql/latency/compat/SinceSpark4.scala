package org.apache.spark.sql.latency.compat

import java.util.UUID

import scala.annotation.unused

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.read.streaming
import org.apache.spark.sql.execution
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.streaming.TimeMode

/** What is the same on all lines of Spark 4, and not on 3.5. Aliases, and calls that cost what Spark's own do. Without state. */
trait SinceSpark4 {
  type ReadMaxBytes = streaming.ReadMaxBytes
  type TransformWithState = logical.TransformWithState
  type FlatMapCoGroupsInBatchExec = execution.python.FlatMapCoGroupsInBatchExec
  type FlatMapGroupsInBatchExec = execution.python.FlatMapGroupsInBatchExec

  def expressionOf(column: Column): Expression = classic.ColumnNodeToExpressionConverter(column.node)

  /** What a parameter of a hint stands for. */
  def hintParameter(parameter: Any): Any = parameter

  /** The stream that a leaf of a plan reads. */
  def streamOf(leaf: SparkPlan, @unused query: Option[Any]): Option[streaming.SparkDataStream] = leaf match {
    case scan: execution.StreamSourceAwareSparkPlan => scan.getStream
    case _ => None
  }

  /** Whether a scan of files in the plan of this batch reads a stream. */
  def isOfStream(scan: FileSourceScanExec, @unused batch: QueryExecution): Boolean = scan.getStream.nonEmpty

  /** Whether a function with state of its own can set no timer. */
  def isWithoutTimers(operator: SparkPlan): Boolean = operator match {
    case function: TransformWithStateExec => function.timeMode == TimeMode.None()
    case function: TransformWithStateInPySparkExec => function.timeMode == TimeMode.None()
    case _ => false
  }

  /** Of a watermark whose own does not matter. */
  val NoId: UUID = new UUID(0, 0)

  def withoutId(watermark: logical.EventTimeWatermark): logical.EventTimeWatermark =
    watermark.copy(nodeId = NoId)

  /** What kind of mistake Spark has found. */
  def conditionOf(mistake: AnalysisException): Option[String] = Option(mistake.getCondition)
}
