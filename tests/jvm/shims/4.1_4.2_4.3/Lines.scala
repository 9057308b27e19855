package io.sparklatency.spark

import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.checkpointing
import org.apache.spark.sql.execution.streaming.runtime
import org.apache.spark.sql.execution.streaming.sources
import org.apache.spark.sql.streaming.Trigger

/** The names that tests use of Spark and that are not the same on all its lines. */
object Lines {
  type ClassicSession = classic.SparkSession
  type MemoryStream[A] = runtime.MemoryStream[A]
  val MemoryStream: runtime.MemoryStream.type = runtime.MemoryStream
  type PlainCheckpoints = checkpointing.FileSystemBasedCheckpointFileManager
  type StreamingQueryWrapper = runtime.StreamingQueryWrapper

  /** A source that real-time mode reads. Where the line has no such mode, the test is cancelled here. */
  val LowLatencyMemoryStream: sources.LowLatencyMemoryStream.type = sources.LowLatencyMemoryStream

  def realTime(duration: String): Trigger = Trigger.RealTime(duration)
}
