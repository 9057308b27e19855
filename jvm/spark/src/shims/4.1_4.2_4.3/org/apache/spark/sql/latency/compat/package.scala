package org.apache.spark.sql.latency

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution
import org.apache.spark.sql.execution.streaming.operators.stateful
import org.apache.spark.sql.execution.streaming.runtime
import org.apache.spark.sql.internal.SQLConf

/**
 * Every name of Spark, or of what comes with it, that is not the same on all Spark lines. Nothing else in this project names
 * them, so another line is another folder beside this one. The folder is named after the lines it serves; a line may have several.
 *
 * Aliases only: they cost nothing when a program runs, and have no threads.
 */
package object compat extends SinceSpark4 with OffsetMetadata {
  type Dataset[T] = classic.Dataset[T]
  val Dataset: classic.Dataset.type = classic.Dataset
  type SparkSession = classic.SparkSession
  val SparkSession: classic.SparkSession.type = classic.SparkSession

  type IncrementalExecution = runtime.IncrementalExecution
  type MicroBatchExecution = runtime.MicroBatchExecution
  type MicroBatchExecutionContext = runtime.MicroBatchExecutionContext
  type ProcessingTimeExecutor = runtime.ProcessingTimeExecutor
  type StreamExecution = runtime.StreamExecution
  type StreamingExecutionRelation = runtime.StreamingExecutionRelation
  type TriggerExecutor = runtime.TriggerExecutor
  val WatermarkPropagator: runtime.WatermarkPropagator.type = runtime.WatermarkPropagator
  type WatermarkTracker = runtime.WatermarkTracker
  type ContinuousTrigger = execution.streaming.ContinuousTrigger
  type RealTimeTrigger = execution.streaming.RealTimeTrigger

  type ContinuousScanExec = execution.datasources.v2.ContinuousScanExec
  type RealTimeStreamScanExec = execution.datasources.v2.RealTimeStreamScanExec
  type StreamingDataSourceV2ScanRelation = execution.datasources.v2.StreamingDataSourceV2ScanRelation
  type WriteFilesExecBase = execution.datasources.WriteFilesExecBase
  type WriteToContinuousDataSourceExec = execution.streaming.continuous.WriteToContinuousDataSourceExec

  type FlatMapGroupsInPandasWithStateExec = execution.python.streaming.FlatMapGroupsInPandasWithStateExec
  type TransformWithStateExec = stateful.transformwithstate.TransformWithStateExec
  type TransformWithStateInPySpark = logical.TransformWithStateInPySpark
  type TransformWithStateInPySparkExec = execution.python.streaming.TransformWithStateInPySparkExec

  type EventTimeWatermarkExec = stateful.EventTimeWatermarkExec
  type SessionWindowStateStoreRestoreExec = stateful.SessionWindowStateStoreRestoreExec
  type SessionWindowStateStoreSaveExec = stateful.SessionWindowStateStoreSaveExec
  type StateStoreRestoreExec = stateful.StateStoreRestoreExec
  type StateStoreSaveExec = stateful.StateStoreSaveExec
  type StateStoreWriter = stateful.StateStoreWriter
  type StreamingSymmetricHashJoinExec = stateful.join.StreamingSymmetricHashJoinExec
  type UpdateEventTimeColumnExec = stateful.UpdateEventTimeColumnExec
  type WatermarkSupport = stateful.WatermarkSupport
  val WatermarkSupport: stateful.WatermarkSupport.type = stateful.WatermarkSupport

  /** Whether a query without state is planned adaptively. */
  def plansStatelessAdaptively(conf: SQLConf): Boolean =
    conf.adaptiveExecutionEnabled && conf.getConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED_IN_STATELESS_STREAMING)

  /** The name that Spark gives such an operator in its progress. */
  def shortName(operator: StateStoreWriter): String = operator.shortName

  /** A watermark has the same in the logical plan of its query and in the plan of each batch. */
  def watermarkId(watermark: EventTimeWatermarkExec): UUID = watermark.nodeId
  def watermarkId(watermark: logical.EventTimeWatermark): UUID = watermark.nodeId

  /** Whether a query is to run in continuous mode. */
  def isContinuous(write: WriteToStreamStatement): Boolean = write.trigger.isInstanceOf[ContinuousTrigger]

  /** The session that a query runs with, its own copy of the user's. */
  def sessionOf(query: StreamExecution): SparkSession = query.sparkSessionForStream

  /** What makes one watermark of all that a query has. Scala keeps it from us, though Java would not. */
  def watermarkTracker(query: MicroBatchExecution): WatermarkTracker =
    classOf[MicroBatchExecution].getMethod("watermarkTracker").invoke(query).asInstanceOf[WatermarkTracker]

  type HttpServletRequest = jakarta.servlet.http.HttpServletRequest
}
