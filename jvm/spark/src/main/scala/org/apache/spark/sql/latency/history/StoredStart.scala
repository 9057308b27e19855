package org.apache.spark.sql.latency.history

import org.apache.spark.status.KVUtils.KVIndexParam

/**
 * Says that a run began, and what it has committed until its first batch with figures is stored. It is kept as long as its run is, and
 * then says nothing more. Immutable, three short texts and as many numbers. The archive's thread writes it, any thread may read it.
 *
 * @param told its place among all starts
 * @param batches how many batches without figures were committed
 * @param committedMs when the last of them was
 */
private[spark] final class StoredStart(
    @KVIndexParam val run: String,
    val queryId: String,
    val name: String,
    val told: Long,
    val batches: Long,
    val committedMs: Long
) {
  def committed(atMs: Long): StoredStart = new StoredStart(run, queryId, name, told, batches + 1, atMs)
}
