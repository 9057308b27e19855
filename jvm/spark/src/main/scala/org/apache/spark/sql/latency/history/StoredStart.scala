package org.apache.spark.sql.latency.history

import org.apache.spark.status.KVUtils.KVIndexParam

/**
 * Says that a run began, until its first batch with figures is stored. Immutable, three short texts. The archive's thread writes it,
 * any thread may read it.
 *
 * @param told its place among all starts
 */
private[spark] final class StoredStart(
    @KVIndexParam val run: String,
    val queryId: String,
    val name: String,
    val told: Long
)
