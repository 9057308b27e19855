package org.apache.spark.sql.latency

import io.sparklatency.BatchRecord
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.NodeRecord
import io.sparklatency.NodeSnapshot
import io.sparklatency.NodeView
import io.sparklatency.QuerySnapshot
import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkContext
import org.apache.spark.status.KVUtils
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.kvstore.KVStore

/**
 * What every surface shows, of a running application and of one that the History Server has read. All of it can be made from
 * events; of a run that goes on, the running figures stand in place of those, because they know more: tasks that have not ended,
 * and the silence since the last batch.
 */
private[spark] final class LatencyStore(store: KVStore, settings: LatencyConf, live: Option[LatencyTracker]) {

  /** The runs of all queries, those first that the application itself still knows, then the newest. */
  def queries: Seq[QuerySnapshot] = {
    val running = live.toSeq.flatMap(_.snapshot())
    val known = running.map(query => StoredQuery.key(query.runId, query.name)).toSet
    val stored = KVUtils.viewToSeq(store.view(classOf[StoredQuery])).filterNot(query => known(query.key))
    running ++ stored.sortBy(-_.committedMs).map(snapshot)
  }

  /** By the id of its run; or by the query's name or id, and then the newest run. */
  def query(key: String): Option[QuerySnapshot] = {
    val all = queries
    all.find(_.runId.contains(key)).orElse(all.find(query => query.name == key || query.id.contains(key)))
  }

  /** The last batches of a run, oldest first. */
  def history(query: QuerySnapshot, limit: Int = Int.MaxValue): Seq[BatchRecord] =
    newest(StoredQuery.key(query.runId, query.name), limit).map(_.record).reverse

  private def newest(key: String, limit: Int = Int.MaxValue): Seq[SparkListenerLatencyBatch] =
    KVUtils.viewToSeq(
      store.view(classOf[StoredBatch]).reverse().first(StoredBatch.key(key, Long.MaxValue))
        .last(StoredBatch.key(key, 0)).max(limit.toLong)
    ).map(_.event)

  /** The window ends with the last batch: nothing is known of the time after it. */
  private def snapshot(query: StoredQuery): QuerySnapshot = {
    val window = settings.figures.window
    val since = query.committedMs - window.samples * window.sampleMs
    val recent = newest(query.key).takeWhile(_.committedMs > since).map(_.record)
    QuerySnapshot(
      query.name,
      Option(query.queryId),
      Option(query.runId),
      query.batches,
      query.nodes.toSeq.map(_.node).map(node => view(node, recent.flatMap(_.nodes).filter(_.id == node.id))),
      folded = 0,
      recent.headOption
    )
  }

  /**
   * @param node   with the totals of its measures
   * @param recent the batches of the window, newest first
   */
  private def view(node: NodeRecord, recent: Seq[NodeRecord]): NodeView = {
    val measures = node.measures.map { case (measure, total) =>
      measure -> NodeSnapshot(total, LatencySummary.merge(recent.map(_(measure))))
    }
    val latest = recent.map(_(Measure.E2ELatency)).find(!_.isEmpty)
    NodeView(node.id, node.upstream, measures, latest.getOrElse(LatencySummary.empty))
  }
}

private[spark] object LatencyStore {
  def of(ui: SparkUI): LatencyStore =
    new LatencyStore(ui.store.store, LatencyConf(ui.conf), ui.sc.flatMap(LatencyTracker.existing))

  /** Of an application that runs in this process, with a UI or without. */
  def of(context: SparkContext): LatencyStore =
    new LatencyStore(
      context.statusStore.store,
      LatencyConf(context.getConf),
      LatencyTracker.existing(context)
    )
}
