package org.apache.spark.sql.latency

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.sparklatency.BatchRecord
import io.sparklatency.LatencyChart
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.NodeSnapshot
import io.sparklatency.NodeView
import io.sparklatency.QuerySnapshot
import io.sparklatency.RunStatus
import io.sparklatency.spark.LatencyConf
import org.apache.spark.status.KVUtils
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.kvstore.KVStore

/**
 * What every surface shows, of a running application and of one that the History Server has read. All of it can be made from
 * events; of a run that goes on, the running figures stand in place of those, because they know more: tasks that have not ended,
 * and the silence since the last batch.
 */
private[spark] final class LatencyStore(store: KVStore, settings: LatencyConf, live: Option[LatencyTracker]) {
  import LatencyStore._

  def isEmpty: Boolean = running.isEmpty && store.count(classOf[StoredQuery]) == 0

  /** The runs of all queries, those first that the application itself still knows, then the newest. */
  def queries: Seq[QuerySnapshot] = {
    val known = running
    known ++ storedBeside(known).map(snapshot)
  }

  def queryNames: Seq[String] = {
    val known = running
    (known.map(_.name) ++ storedBeside(known).map(_.name)).distinct
  }

  /** By the id of its run; or by the query's name or id, and then the newest run. */
  def query(key: String): Option[QuerySnapshot] = {
    val known = running
    val stored = storedBeside(known)
    def find(inRunning: QuerySnapshot => Boolean, inStored: StoredQuery => Boolean) =
      known.findLast(inRunning).orElse(stored.find(inStored).map(snapshot))
    find(_.runId.contains(key), _.runId == key)
      .orElse(find(
        query => query.name == key || query.id.contains(key),
        query => query.name == key || query.queryId == key
      ))
  }

  /**
   * How the run of a streaming query goes, or how it ended. None where no event tells, as of a run whose driver was killed or whose
   * event log goes on, and of batch queries.
   */
  def status(query: QuerySnapshot): Option[RunStatus] = query.runId.flatMap { run =>
    if (live.exists(_.isRunning(run))) Some(RunStatus.Running)
    else Try(store.read(classOf[StoredEnd], run)).toOption.map(end =>
      if (end.hasFailed) RunStatus.Failed else RunStatus.Finished
    )
  }

  /** The last batches of a run, oldest first. */
  def history(query: QuerySnapshot, limit: Int = Int.MaxValue): Seq[BatchRecord] =
    newest(query.key)(_.take(limit).map(_.record).toSeq).reverse

  /** How the latency of some nodes went over all batches of a run that are kept, oldest first; that of no other node is decoded. */
  def latencies(query: QuerySnapshot, nodes: Set[String]): Map[String, Seq[LatencyChart.Point]] =
    newest(query.key)(_.flatMap { batch =>
      batch.nodes.filter(node => nodes(node.id)).map { node =>
        node.id -> LatencyChart.Point(batch.committedMs, node.node(Measure.E2ELatency))
      }
    }.toSeq).reverse.groupMap { case (node, _) => node } { case (_, point) => point }

  /** The newest run of each query, by name. */
  def newestRuns: Seq[QuerySnapshot] = {
    val known = running
    val names = known.map(_.name).toSet
    known ++ storedBeside(known).filterNot(query => names(query.name)).distinctBy(_.name).map(snapshot)
  }

  private def running: Seq[QuerySnapshot] = live.toSeq.flatMap(_.snapshot())

  /** Newest first. */
  private def storedBeside(known: Seq[QuerySnapshot]): Seq[StoredQuery] = {
    val keys = known.map(_.key).toSet
    KVUtils.viewToSeq(
      store.view(classOf[StoredQuery])
    ).filterNot(query => keys(query.key)).sortBy(-_.committedMs)
  }

  /** Hands over a run's batches, newest first. Each is read from the store when it is asked for. */
  private def newest[A](key: String)(use: Iterator[SparkListenerLatencyBatch] => A): A = {
    val batches = store.view(classOf[StoredBatch]).parent(key).reverse().closeableIterator()
    try use(batches.asScala.map(_.event))
    finally batches.close()
  }

  /** The window ends with the last batch: nothing is known of the time after it. */
  private def snapshot(query: StoredQuery): QuerySnapshot = {
    val window = settings.figures.window
    val since = query.committedMs - window.samples * window.sampleMs
    val recent = newest(query.key)(_.takeWhile(_.committedMs > since).map(_.record).toSeq)
    val byNode = recent.flatMap(_.nodes).groupBy(_.id)
    val latest = query.latest.map(fields => fields.id -> fields.node.measures).toMap
    QuerySnapshot(
      query.name,
      Option(query.queryId),
      Option(query.runId),
      query.batches,
      query.nodes.toSeq.map(_.node).map { node =>
        val measures = node.measures.map { case (measure, total) =>
          val shown = LatencySummary.merge(byNode.getOrElse(node.id, Nil).map(_(measure)))
          measure -> NodeSnapshot(total, shown, total)
        }
        NodeView(node.id, node.upstream, measures, latest.getOrElse(node.id, Map.empty))
      },
      folded = 0,
      recent.headOption
    )
  }
}

private[spark] object LatencyStore {

  private implicit final class KeyOf(query: QuerySnapshot) {
    def key: String = StoredQuery.key(query.runId, query.name)
  }

  def of(ui: SparkUI): LatencyStore =
    new LatencyStore(ui.store.store, LatencyConf.orDefaults(ui.conf), ui.sc.flatMap(LatencyTracker.existing))
}
