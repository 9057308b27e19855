package org.apache.spark.sql.latency.history

import io.sparklatency.figures.Pace
import io.sparklatency.figures.QuerySnapshot
import org.apache.spark.status.KVUtils.KVIndexParam

/**
 * Says that a run began, and what it has committed until its first batch with figures is stored. It is kept as long as its run is, and
 * then says nothing more. Immutable, three short texts and as many numbers. The archive's thread writes it, any thread may read it.
 *
 * @param told its place among all starts
 * @param batches how many batches without figures were committed
 * @param committedMs when the last of them was
 * @param usuallyMs from one commit to the next; null where it is unknown, and in a store of an earlier version
 * @param takesMs how long a batch takes; null likewise
 * @param droppedLate how many rows its operators have dropped as late; 0 in a store of an earlier version
 * @param beside which runs of its name went on when it began, as another session may have them; null in a store of an earlier version
 */
private[spark] final class StoredStart(
    @KVIndexParam val run: String,
    val queryId: String,
    val name: String,
    val told: Long,
    val batches: Long,
    val committedMs: Long,
    val usuallyMs: java.lang.Double,
    val takesMs: java.lang.Double,
    val droppedLate: Long,
    val beside: Array[String]
) {

  /** Whether a run of its name has given way to it. One that went on has not, nor has one that began later. */
  private[history] def follows(other: String, toldOfOther: Option[Long]): Boolean =
    !Option(beside).exists(_.contains(other)) && toldOfOther.forall(_ <= told)

  def committed(atMs: Long, pace: Pace, dropped: Long): StoredStart = new StoredStart(
    run,
    queryId,
    name,
    told,
    batches + 1,
    atMs,
    pace.intervalMs.map(Double.box).orNull,
    pace.takesMs.map(Double.box).orNull,
    droppedLate + dropped,
    beside
  )

  def snapshot: QuerySnapshot = QuerySnapshot(
    name,
    Some(queryId),
    Some(run),
    batches,
    Nil,
    0,
    None,
    usuallyMs = Option(usuallyMs).map(_.toDouble),
    takesMs = Option(takesMs).map(_.toDouble),
    unmarkedMs = Option.when(batches > 0)(committedMs),
    droppedLate = droppedLate
  )
}
