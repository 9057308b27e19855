package org.apache.spark.sql.latency.history

import io.sparklatency.answer.Note
import org.apache.spark.sql.latency.SparkListenerLatencyNote
import org.apache.spark.status.KVUtils.KVIndexParam

/**
 * What planning has found in a run. Immutable, a sentence for each. The archive's thread writes it, any thread may read it.
 */
private[spark] final class StoredNotes(
    @KVIndexParam val run: String,
    val events: Array[SparkListenerLatencyNote]
) {
  private[latency] def notes: Seq[Note] = events.toSeq.map(_.note).sortBy(_.text)
}
