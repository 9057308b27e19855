package org.apache.spark.sql.latency.history

import com.fasterxml.jackson.annotation.JsonIgnore
import org.apache.spark.sql.latency.SparkListenerLatencyBatch
import org.apache.spark.status.KVUtils.KVIndexParam
import org.apache.spark.util.kvstore.KVIndex

/**
 * A batch of a run in Spark's store, found by its number in the run. As large as its event: about 80 bytes or more
 * for each node and measure. Immutable, but for what pages have made of it: a store in memory gives the same batch again, a store on
 * disk reads a new one each time, which has nothing. The archive's thread writes it, any thread may read it.
 */
private[spark] final class StoredBatch(
    @KVIndexParam(parent = StoredBatch.Query) val key: String,
    val event: SparkListenerLatencyBatch
) {

  /** The store's index: by it a store in memory finds the batches of one run without reading those of all. */
  @JsonIgnore @KVIndex(StoredBatch.Query)
  private[latency] def query: String = key.take(key.lastIndexOf('/'))

  /** One more than that of the batch before in its run. */
  @JsonIgnore
  private[latency] def number: Long =
    java.lang.Long.parseLong(key, key.length - StoredBatch.Digits, key.length, 10)

  @transient private[this] val made = new MadeOfBatch

  @JsonIgnore
  private[latency] def shown: MadeOfBatch = made
}

/** The names of keys. */
private[spark] object StoredBatch {
  final val Query = "query"

  /** Any number has as many. */
  private val Digits = 19

  def key(query: String, number: Long): String = s"$query/${sorted(number)}"

  /** A number as text that sorts as numbers do. By hand: `String.format` would take longer than all else that is done with it. */
  private[latency] def sorted(number: Long): String = {
    val digits = number.toString
    "0" * (Digits - digits.length) + digits
  }
}
