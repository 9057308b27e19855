package org.apache.spark.sql.latency

import org.apache.spark.SparkContext

/** Puts a run into the store of an application that nothing can read, for as long as the block runs. */
object BrokenStore {
  def during(context: SparkContext)(body: => Unit): Unit = {
    val store = context.statusStore.store
    store.write(new StoredQuery("broken", null, null, null, 1, 0, null))
    try body
    finally store.delete(classOf[StoredQuery], "broken")
  }
}
