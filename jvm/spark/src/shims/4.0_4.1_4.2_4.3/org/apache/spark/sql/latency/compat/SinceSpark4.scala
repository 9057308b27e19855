package org.apache.spark.sql.latency.compat

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.read.streaming
import org.apache.spark.sql.execution

/** What is the same on all lines of Spark 4, and not on 3.5. Aliases, and calls that cost what Spark's own do. Without state. */
trait SinceSpark4 {
  type ReadMaxBytes = streaming.ReadMaxBytes
  type TransformWithState = logical.TransformWithState
  type FlatMapCoGroupsInBatchExec = execution.python.FlatMapCoGroupsInBatchExec
  type FlatMapGroupsInBatchExec = execution.python.FlatMapGroupsInBatchExec

  def expressionOf(column: Column): Expression = classic.ColumnNodeToExpressionConverter(column.node)

  /** What a parameter of a hint stands for. */
  def hintParameter(parameter: Any): Any = parameter

  /** What kind of mistake Spark has found. */
  def conditionOf(mistake: AnalysisException): Option[String] = Option(mistake.getCondition)
}
