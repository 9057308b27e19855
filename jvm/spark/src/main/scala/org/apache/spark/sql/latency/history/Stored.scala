package org.apache.spark.sql.latency.history

import scala.util.Try

import org.apache.spark.util.kvstore.KVStore

/** Finds what is stored under a key. Spark's store throws where it has nothing. */
private[history] object Stored {
  def apply[A](store: KVStore, of: Class[A], key: String): Option[A] = Try(store.read(of, key)).toOption
}
