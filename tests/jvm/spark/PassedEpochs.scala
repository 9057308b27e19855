package org.apache.spark.sql.latency

import io.sparklatency.spark.Lines.StreamingQueryWrapper
import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.continuous.ContinuousExecution
import org.apache.spark.sql.execution.streaming.continuous.EpochCoordinatorRef
import org.apache.spark.sql.execution.streaming.continuous.IncrementAndGetEpoch
import org.apache.spark.sql.streaming.StreamingQuery

/** Lets the time of a query in continuous mode go on. In Spark's package for what Spark keeps private. */
object PassedEpochs {

  /** So many epochs begin at once, as they else do one at each interval. */
  def of(query: StreamingQuery, epochs: Int): Unit = {
    val continuous =
      query.asInstanceOf[StreamingQueryWrapper].streamingQuery.asInstanceOf[ContinuousExecution]
    val coordinator = EpochCoordinatorRef.get(continuous.currentEpochCoordinatorId, SparkEnv.get)
    (1 to epochs).foreach(_ => coordinator.askSync[Long](IncrementAndGetEpoch))
  }
}
