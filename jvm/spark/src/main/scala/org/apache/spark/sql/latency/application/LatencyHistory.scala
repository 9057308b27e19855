package org.apache.spark.sql.latency.application

import scala.collection.immutable

import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.spark.base.Version
import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.KeptAnswers
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.latency.ui.LatencyTab
import org.apache.spark.status.AppHistoryServerPlugin
import org.apache.spark.status.ElementTrackingStore
import org.apache.spark.ui.SparkUI
import org.slf4j.LoggerFactory

/**
 * Shows an ended application's figures in the History Server, which finds this class by `META-INF/services`. A bad setting of
 * the application has its default here, and a failure hides only the tab.
 *
 * So does a jar for another Spark or Scala, which names the one that fits. Without that it would keep every application from the History
 * Server, for Spark catches nothing here. Hence the method that either Scala asks for, and no `Logging` of Spark's.
 *
 * The History Server calls it when it loads an application, in the thread that loads it. Each batch in the event log costs
 * what [[BatchArchive]] costs. An application without figures costs nothing more.
 */
final class LatencyHistory extends AppHistoryServerPlugin with ListenersOfEitherScala {

  override def createListeners(
      conf: SparkConf,
      store: ElementTrackingStore
  ): immutable.Seq[SparkListener] =
    try {
      Version.requireFit()
      LatencyHistory.listeners(conf, store)
    } catch {
      case OurFailure(e) =>
        logWarning("The tab Latency is not shown.", e)
        Nil
    }

  /** Adds the tab if there are figures. A failure here must not hide the rest of the application. */
  override def setupUI(ui: SparkUI): Unit =
    try
      if (!LatencyHistory.store(ui).isEmpty) {
        val made = new KeptAnswers
        LatencyTab.attachTo(ui, () => LatencyHistory.store(ui, made))
      }
    catch { case OurFailure(e) => logWarning("The tab Latency is not shown.", e) }

  /** After Structured Streaming's tab. */
  override def displayOrder: Int = 100

  private def logWarning(text: String, failure: Throwable): Unit =
    LoggerFactory.getLogger(getClass).warn(text, failure)
}

/** What a Spark of Scala 2.12 asks a plugin for: there `Seq` is another type. A class that extends both answers either. */
private[application] trait ListenersOfEitherScala {
  def createListeners(conf: SparkConf, store: ElementTrackingStore): scala.collection.Seq[SparkListener]
}

/** Makes the store of an application from its events alone. Costs nothing until it is read; any thread may call it. */
private[spark] object LatencyHistory {

  /** What the events of an application tell, and nothing else. */
  def store(ui: SparkUI, made: KeptAnswers = new KeptAnswers): LatencyStore =
    new LatencyStore(ui.store.store, live = None, made = made)

  /** Whoever reads the events of an application into its store. */
  private def listeners(conf: SparkConf, store: ElementTrackingStore): List[SparkListener] = {
    val settings = LatencyConf.orDefaults(conf)
    List(new BatchArchive(store, settings.historyBatches, settings.figures.window))
  }
}
