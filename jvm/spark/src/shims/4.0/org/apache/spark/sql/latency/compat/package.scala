package org.apache.spark.sql.latency

import java.util.UUID

import scala.annotation.unused

import org.apache.spark.sql.catalyst.plans.logical
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution
import org.apache.spark.sql.execution.streaming
import org.apache.spark.sql.internal.SQLConf

/**
 * The names of Spark 4.0, where all of streaming is in one package, and where there is no real-time mode.
 *
 * Aliases only: they cost nothing when a program runs, and have no threads.
 */
package object compat extends SinceSpark4 {
  type Dataset[T] = classic.Dataset[T]
  val Dataset: classic.Dataset.type = classic.Dataset
  type SparkSession = classic.SparkSession
  val SparkSession: classic.SparkSession.type = classic.SparkSession

  type IncrementalExecution = streaming.IncrementalExecution
  type MicroBatchExecution = streaming.MicroBatchExecution
  type MicroBatchExecutionContext = streaming.MicroBatchExecutionContext
  type ProcessingTimeExecutor = streaming.ProcessingTimeExecutor
  type StreamExecution = streaming.StreamExecution
  type OffsetSeqMetadataBase = streaming.OffsetSeqMetadata
  type StreamingExecutionRelation = streaming.StreamingExecutionRelation
  type TriggerExecutor = streaming.TriggerExecutor
  val WatermarkPropagator: streaming.WatermarkPropagator.type = streaming.WatermarkPropagator
  type WatermarkTracker = streaming.WatermarkTracker
  type ContinuousTrigger = streaming.ContinuousTrigger

  type ContinuousScanExec = execution.datasources.v2.ContinuousScanExec
  type StreamingDataSourceV2ScanRelation = execution.datasources.v2.StreamingDataSourceV2ScanRelation
  type WriteFilesExecBase = execution.datasources.WriteFilesExecBase
  type WriteToContinuousDataSourceExec = streaming.continuous.WriteToContinuousDataSourceExec

  type FlatMapGroupsInPandasWithStateExec = execution.python.streaming.FlatMapGroupsInPandasWithStateExec
  type TransformWithStateExec = execution.streaming.TransformWithStateExec
  type TransformWithStateInPySpark = logical.TransformWithStateInPandas
  type TransformWithStateInPySparkExec = execution.python.streaming.TransformWithStateInPandasExec

  type EventTimeWatermarkExec = streaming.EventTimeWatermarkExec
  type SessionWindowStateStoreRestoreExec = streaming.SessionWindowStateStoreRestoreExec
  type SessionWindowStateStoreSaveExec = streaming.SessionWindowStateStoreSaveExec
  type StateStoreRestoreExec = streaming.StateStoreRestoreExec
  type StateStoreSaveExec = streaming.StateStoreSaveExec
  type StateStoreWriter = streaming.StateStoreWriter
  type StreamingSymmetricHashJoinExec = streaming.StreamingSymmetricHashJoinExec
  type UpdateEventTimeColumnExec = streaming.UpdateEventTimeColumnExec
  type WatermarkSupport = streaming.WatermarkSupport
  val WatermarkSupport: streaming.WatermarkSupport.type = streaming.WatermarkSupport

  /** Whether a query without state is planned adaptively. No query was before Spark 4.1. */
  def plansStatelessAdaptively(@unused conf: SQLConf): Boolean = false

  /** The name that Spark gives such an operator in its progress. */
  def shortName(operator: StateStoreWriter): String = operator.shortName

  /** A watermark has the same in the logical plan of its query and in the plan of each batch. */
  def watermarkId(watermark: EventTimeWatermarkExec): UUID = watermark.nodeId
  def watermarkId(watermark: logical.EventTimeWatermark): UUID = watermark.nodeId

  /** Whether a query is to run in continuous mode. */
  def isContinuous(write: WriteToStreamStatement): Boolean = write.isContinuousTrigger

  /** The session that a query runs with, its own copy of the user's. Scala keeps it from us, though Java would not. */
  def sessionOf(query: StreamExecution): SparkSession =
    classOf[StreamExecution].getMethod("sparkSessionForStream").invoke(query).asInstanceOf[SparkSession]

  /** What makes one watermark of all that a query has. Scala keeps it from us, though Java would not. */
  def watermarkTracker(query: MicroBatchExecution): WatermarkTracker =
    classOf[MicroBatchExecution].getMethod("watermarkTracker").invoke(query).asInstanceOf[WatermarkTracker]

  type HttpServletRequest = jakarta.servlet.http.HttpServletRequest
}
