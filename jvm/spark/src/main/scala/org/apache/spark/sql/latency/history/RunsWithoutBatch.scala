package org.apache.spark.sql.latency.history

import scala.collection.mutable

import io.sparklatency.figures.Pace
import io.sparklatency.time.WallClock
import org.apache.spark.sql.latency.tracking.SparkProgress
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryStartedEvent
import org.apache.spark.sql.streaming.StreamingQueryProgress
import org.apache.spark.util.kvstore.KVStore

/**
 * Runs of which no batch with figures was told yet: they are stored from their start, with what is known of their commits. One may still
 * get a batch when it has ended, because its last batch can come after its end. So of those that have ended the last hundred are kept, but
 * for those that the query's next run has followed.
 *
 * A few numbers for each run. Not thread-safe: the archive's thread uses it.
 */
private[history] final class RunsWithoutBatch(store: KVStore) {
  private val begun = mutable.LinkedHashMap.empty[String, StoredStart] // by run
  private val paces = mutable.Map.empty[String, Pace] // of those that have committed something
  private val ended = mutable.LinkedHashSet.empty[String]
  private val gaveWay = mutable.LinkedHashMap.empty[String, StoredEnd] // those that a next run has followed
  private var starts = 0L

  /** Whether its start was told. */
  def contains(run: String): Boolean = begun.contains(run)

  /**
   * A run has begun. Forgets the runs that it follows, and gives them back. Without a checkpoint that has another id, and only its name
   * is the same; but two sessions may run queries of one name at the same time.
   *
   * @param withBatches the runs of a name that have batches and go on
   */
  def start(event: QueryStartedEvent, withBatches: String => Seq[String]): Seq[String] = {
    val (id, run) = (event.id.toString, event.runId.toString)
    val name = Option(event.name).getOrElse(id)
    starts += 1
    val (follows, goesOn) =
      begun.values.toList.filter(earlier => earlier.queryId == id || earlier.name == name)
        .partition(earlier => earlier.queryId == id || ended(earlier.run))
    val beside = goesOn.map(_.run) ++ withBatches(name)
    val start = new StoredStart(run, id, name, starts, 0, 0, null, null, 0, beside.toArray)
    val followed = follows.map(_.run)
    followed.foreach { earlier =>
      forget(earlier)
      // Else the ends of a query that fails again and again would drive out those of others that still show.
      if (ended.remove(earlier)) giveWay(earlier)
    }
    store.write(start)
    begun(start.run) = start
    followed
  }

  private def giveWay(run: String): Unit = {
    Stored(store, classOf[StoredEnd], run).foreach(gaveWay(run) = _)
    if (gaveWay.size > BatchArchive.RunsKept) gaveWay -= gaveWay.head._1
    Stored.delete(store, classOf[StoredEnd], run)
  }

  /** Of a trigger that found no data Spark tells by another event. */
  def commit(progress: StreamingQueryProgress): Unit = {
    val run = progress.runId.toString
    if (contains(run)) {
      val told = new SparkProgress(progress)
      val atMs = WallClock.at(told.startMs + told.tookMs.getOrElse(0L))
      val pace = paces.getOrElseUpdate(run, new Pace)
      pace.committed(atMs, told.tookMs)
      Stored(store, classOf[StoredStart], run)
        .foreach(start => store.write(start.committed(atMs, pace, told.droppedLate)))
    }
  }

  /** It has ended. Of those that have the oldest goes. */
  def end(run: String): Unit = {
    ended += run
    if (ended.size > BatchArchive.RunsKept) {
      val oldest = ended.head
      ended -= oldest
      forget(oldest)
      Stored.delete(store, classOf[StoredEnd], oldest)
    }
  }

  /**
   * The first batch of this run is told: it is none of these any more. What is stored of its start stays as long as the run. Gives back
   * whether it has ended. A batch is told behind its progress, so the run may have ended meanwhile, and its next one begun.
   */
  def gotBatch(run: String): Boolean = {
    begun -= run
    paces -= run
    val end = gaveWay.remove(run)
    end.foreach(store.write)
    ended.remove(run) || end.nonEmpty
  }

  private def forget(run: String): Unit =
    if (begun.remove(run).nonEmpty) {
      paces -= run
      store.delete(classOf[StoredStart], run)
    }
}
