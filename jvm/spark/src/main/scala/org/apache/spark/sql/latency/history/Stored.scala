package org.apache.spark.sql.latency.history

import scala.util.Try

import org.apache.spark.util.kvstore.KVStore

private[history] object Stored {

  /**
   * Finds what is stored under a key. Spark's store throws where it has nothing, which takes longer than all else here. Of most
   * classes a healthy application has nothing at all.
   */
  def apply[A](store: KVStore, of: Class[A], key: String): Option[A] =
    Try(Option.when(store.count(of) > 0)(store.read(of, key))).toOption.flatten

  /**
   * Deletes what is stored under a key, but for the last of its class: a History Server with a hybrid store puts no application on disk
   * that has a class of which nothing is left.
   */
  def delete(store: KVStore, of: Class[_], key: String): Unit = if (store.count(of) > 1) store.delete(of, key)
}
