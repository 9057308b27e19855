package org.apache.spark.sql.latency

import java.util.UUID

import scala.annotation.unused

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.streaming
import org.apache.spark.sql.internal.SQLConf

/**
 * The names of Spark 3.5, where a session is not of Spark Connect or classic, but one, and a plan does not tell which stream a leaf reads.
 *
 * Aliases, which cost nothing when a program runs, and walks over the plan of a batch. Without state, for any thread.
 */
package object compat {
  type Dataset[T] = org.apache.spark.sql.Dataset[T]
  val Dataset: org.apache.spark.sql.Dataset.type = org.apache.spark.sql.Dataset
  type SparkSession = org.apache.spark.sql.SparkSession
  val SparkSession: org.apache.spark.sql.SparkSession.type = org.apache.spark.sql.SparkSession

  type IncrementalExecution = streaming.IncrementalExecution
  type MicroBatchExecution = streaming.MicroBatchExecution
  type StreamExecution = streaming.StreamExecution
  type StreamingExecutionRelation = streaming.StreamingExecutionRelation
  type ContinuousTrigger = streaming.ContinuousTrigger

  type ContinuousScanExec = execution.datasources.v2.ContinuousScanExec
  type StreamingDataSourceV2ScanRelation = execution.datasources.v2.StreamingDataSourceV2Relation
  type WriteFilesExecBase = execution.datasources.WriteFilesExec
  type WriteToContinuousDataSourceExec = streaming.continuous.WriteToContinuousDataSourceExec

  type FlatMapCoGroupsInBatchExec = execution.python.FlatMapCoGroupsInPandasExec
  type FlatMapGroupsInBatchExec = execution.python.FlatMapGroupsInPandasExec
  type FlatMapGroupsInPandasWithStateExec = execution.python.FlatMapGroupsInPandasWithStateExec

  type EventTimeWatermarkExec = streaming.EventTimeWatermarkExec
  type SessionWindowStateStoreRestoreExec = streaming.SessionWindowStateStoreRestoreExec
  type SessionWindowStateStoreSaveExec = streaming.SessionWindowStateStoreSaveExec
  type StateStoreRestoreExec = streaming.StateStoreRestoreExec
  type StateStoreSaveExec = streaming.StateStoreSaveExec
  type StateStoreWriter = streaming.StateStoreWriter
  type StreamingSymmetricHashJoinExec = streaming.StreamingSymmetricHashJoinExec
  type WatermarkSupport = streaming.WatermarkSupport
  val WatermarkSupport: streaming.WatermarkSupport.type = streaming.WatermarkSupport

  /** The name that Spark gives such an operator in its progress. Scala keeps it from us, though Java would not. */
  def shortName(operator: StateStoreWriter): String = Operators.shortName(operator)

  def expressionOf(column: Column): Expression = column.expr

  /** What a parameter of a hint stands for. The call in Scala gives a Column as it is. */
  def hintParameter(parameter: Any): Any = parameter match {
    case column: Column => column.expr
    case other => other
  }

  /** What kind of mistake Spark has found. */
  def conditionOf(mistake: AnalysisException): Option[String] = Option(mistake.getErrorClass)

  /** Whether a query without state is planned adaptively. No query was before Spark 4.1. */
  def plansStatelessAdaptively(@unused conf: SQLConf): Boolean = false

  /** The stream that a leaf of a plan reads. Of an older kind of source only the data of the batch is in the plan. */
  def streamOf(leaf: SparkPlan, query: Option[StreamExecution]): Option[SparkDataStream] = leaf match {
    case scan: execution.datasources.v2.MicroBatchScanExec => Some(scan.stream)
    case scan: LeafExecNode => for {
        data <- query.flatMap(query => Option(RunningBatch.newData(query)))
        columns = scan.outputSet
        (stream, _) <- data.find { case (_, plan) =>
          plan.collectLeaves().exists(_.outputSet.exists(columns.contains))
        }
      } yield stream
    case _ => None
  }

  /** Whether a scan of files in the plan of this batch reads a stream. */
  def isOfStream(scan: FileSourceScanExec, batch: IncrementalExecution): Boolean = batch.logical.exists {
    case read: LogicalRelation => read.isStreaming && read.relation == scan.relation
    case _ => false
  }

  /** Whether a function with state of its own can set no timer. Spark 3.5 has none that sets any. */
  def isWithoutTimers(@unused operator: SparkPlan): Boolean = false

  /** A watermark has the same in the logical plan of its query and in the plan of each batch: Spark 3.5 itself gives it none. */
  def watermarkId(watermark: EventTimeWatermarkExec): UUID =
    new UUID(watermark.eventTime.exprId.id, watermark.delayMs)
  def watermarkId(watermark: EventTimeWatermark): UUID =
    new UUID(watermark.eventTime.exprId.id, EventTimeWatermark.getDelayMs(watermark.delay))

  def withoutId(watermark: EventTimeWatermark): EventTimeWatermark = watermark

  type HttpServletRequest = javax.servlet.http.HttpServletRequest
}
