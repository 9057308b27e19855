package org.apache.spark.sql.latency

import org.apache.spark.SecurityManager
import org.apache.spark.SparkConf
import org.apache.spark.SparkContext
import org.apache.spark.sql.latency.application.LatencyHistory
import org.apache.spark.sql.latency.history.StoredRun
import org.apache.spark.sql.latency.ui.LatencyTab
import org.apache.spark.status.AppStatusStore
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.kvstore.InMemoryStore
import org.apache.spark.util.kvstore.KVStoreView

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
      null,
      0,
      null,
      null,
      null
    ))
    try body
    finally store.delete(classOf[StoredRun], "broken")
  }

  def attachToNothing(): Unit = LatencyTab.attachTo(null, () => null)

  /** A UI whose tab finds a class missing when it reads, as where the jar is another Spark line's. Tells its port. */
  def withoutClass(check: Int => Unit): Unit = {
    val ui = uiOf(new InMemoryStore)
    LatencyTab.attachTo(ui, () => throw missing)
    ui.bind()
    ui.attachAllHandlers()
    try check(ui.boundPort)
    finally ui.stop()
  }

  /** Whether the History Server shows the tab of an application in whose store it finds a class missing. */
  def hasTabWithoutClass: Boolean = {
    val ui = uiOf(new InMemoryStore {
      override def count(kind: Class[_]): Long = throw missing
      override def view[T](kind: Class[T]): KVStoreView[T] = throw missing
    })
    new LatencyHistory().setupUI(ui)
    ui.getTabs.exists(_.prefix == "latency")
  }

  private def missing = new NoClassDefFoundError("org/apache/spark/Moved")

  private def uiOf(store: InMemoryStore): SparkUI = {
    val conf = new SparkConf(false).set("spark.ui.port", "0")
    SparkUI.create(None, new AppStatusStore(store), conf, new SecurityManager(conf), "app", "", 0)
  }

  /** How many filters stand before each page; the one that asks who may see it is among them. */
  def filters(context: SparkContext): Map[String, Int] =
    context.ui.get.getDelegatingHandlers.map(handler =>
      handler.getContextPath() -> handler.filterCount()
    ).toMap
}
