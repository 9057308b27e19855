package org.apache.spark.sql.latency.history

import scala.collection.mutable

import org.apache.spark.sql.latency.SparkListenerLatencyNote
import org.apache.spark.sql.latency.tracking.RunNotes
import org.apache.spark.util.kvstore.KVStore

/**
 * Keeps what planning has found in runs: of each run that is kept, and of the last hundred others. At most a hundred sentences of
 * each. Not thread-safe: the archive's thread uses it.
 *
 * @param isKept whether anything else of a run is
 */
private[history] final class NotesOfRuns(store: KVStore, isKept: String => Boolean) {
  private val noted = mutable.LinkedHashSet.empty[String]

  def add(event: SparkListenerLatencyNote): Unit = {
    val before =
      Stored(store, classOf[StoredNotes], event.runId).fold(Array.empty[SparkListenerLatencyNote])(_.events)
    if (before.length < RunNotes.Most && !before.contains(event))
      store.write(new StoredNotes(event.runId, before :+ event))
    noted += event.runId
    if (noted.size > BatchArchive.RunsKept)
      noted.filterNot(isKept).toVector.dropRight(BatchArchive.RunsKept).foreach(forget)
  }

  def forget(run: String): Unit = if (noted.remove(run)) Stored.delete(store, classOf[StoredNotes], run)
}
