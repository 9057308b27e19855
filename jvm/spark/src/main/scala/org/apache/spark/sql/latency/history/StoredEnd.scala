package org.apache.spark.sql.latency.history

import org.apache.spark.status.KVUtils.KVIndexParam

/**
 * Says that a run ended, and whether by an error. Immutable, an id, a flag and a line. The archive's thread writes it, any
 * thread may read it.
 *
 * @param error the first line of the error, or null
 */
private[spark] final class StoredEnd(@KVIndexParam val run: String, val hasFailed: Boolean, val error: String)
