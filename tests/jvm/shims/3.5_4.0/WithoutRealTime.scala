package io.sparklatency.spark

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.Assertions.cancel

/** What is the same for tests on the lines that have no real-time mode. */
trait WithoutRealTime {
  type MemoryStream[A] = streaming.MemoryStream[A]
  type PlainCheckpoints = streaming.FileSystemBasedCheckpointFileManager
  type StreamingQueryWrapper = streaming.StreamingQueryWrapper

  object MemoryStream {
    def apply[A](spark: SparkSession)(implicit encoder: Encoder[A]): MemoryStream[A] =
      streaming.MemoryStream[A](encoder, spark.sqlContext)
  }

  /** In the place of a source that real-time mode reads: a test that asks for one is cancelled. */
  object LowLatencyMemoryStream {
    def apply[A](spark: SparkSession, partitions: Int)(implicit encoder: Encoder[A]): MemoryStream[A] =
      cancel(
        s"Spark ${spark.version} has no real-time mode, so no $partitions partitions of ${encoder.clsTag}"
      )
  }

  def realTime(duration: String): Trigger =
    cancel(s"Spark ${SPARK_VERSION} has no real-time mode, so no trigger of $duration")
}
