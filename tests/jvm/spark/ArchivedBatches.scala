package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.util.kvstore.KVStore

/** Events that an archive is told, and what is shown of what it stored. */
trait ArchivedBatches {

  /** When the batch of number zero was committed; each is a millisecond later than the one before. */
  protected val Committed = 1000000L

  /** A batch in whose plan these nodes follow one another, and so many records of one age come to each. */
  protected def batch(
      run: String,
      number: Long,
      records: Int = 1,
      ids: Seq[String] = Seq("sink"),
      agedMs: Long = 5
  ): SparkListenerLatencyBatch = {
    val recorder = new LatencyRecorder(new ManualClock(Committed))
    (1 to records).foreach(_ => recorder.record((Committed - agedMs) * 1000))
    val measures: Map[Measure, LatencySummary] = Map(Measure.E2ELatency -> recorder.summary())
    val nodes = ids.zip(Nil +: ids.map(Seq(_))).map { case (id, upstream) =>
      NodeLatencies(id, upstream, measures)
    }
    val at = Committed + number
    SparkListenerLatencyBatch(
      Batch("q", Some("id"), Some(run), number, Committed, at, 0, Map.empty, None, Nil, 0, nodes)
    )
  }

  protected def end(run: UUID, error: String = "on purpose"): QueryTerminatedEvent =
    new QueryTerminatedEvent(run, run, Some(error), None)

  /** As a History Server shows it. */
  protected def shown(stored: KVStore): LatencyStore = new LatencyStore(stored, live = None)
}
