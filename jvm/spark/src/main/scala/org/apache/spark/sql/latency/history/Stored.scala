package org.apache.spark.sql.latency.history

import scala.util.Try

import org.apache.spark.util.kvstore.KVStore

private[history] object Stored {

  /** Finds what is stored under a key. Spark's store throws where it has nothing. */
  def apply[A](store: KVStore, of: Class[A], key: String): Option[A] = Try(store.read(of, key)).toOption

  /**
   * Deletes what is stored under a key, but for the last of its class: a History Server with a hybrid store puts no application on disk
   * that has a class of which nothing is left.
   */
  def delete(store: KVStore, of: Class[_], key: String): Unit = if (store.count(of) > 1) store.delete(of, key)
}
