package org.apache.spark.sql.latency

import org.apache.spark.SparkContext
import org.apache.spark.sql.latency.history.StoredRun
import org.apache.spark.sql.latency.ui.LatencyTab

/** What Spark lets only its own packages do to a UI, or ask of it. */
object UiFaults {

  /** A run in the application's store that nothing can read, for as long as the block runs. */
  def withBrokenStore(context: SparkContext)(body: => Unit): Unit = {
    val store = context.statusStore.store
    store.write(new StoredRun(
      "broken",
      null,
      null,
      null,
      1,
      0,
      0,
      null,
      null,
      null,
      0,
      2,
      30000,
      null,
      0,
      null,
      null,
      null,
      null,
      null,
      null,
      null
    ))
    try body
    finally store.delete(classOf[StoredRun], "broken")
  }

  def attachToNothing(): Unit = LatencyTab.attachTo(null, () => null)

  /** How many filters stand before each page; the one that asks who may see it is among them. */
  def filters(context: SparkContext): Map[String, Int] =
    context.ui.get.getDelegatingHandlers.map(handler =>
      handler.getContextPath() -> handler.filterCount()
    ).toMap
}
