package org.apache.spark.sql.latency.history

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.sparklatency.answer.EarlierRun
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.drawing.LatencyChart
import io.sparklatency.figures.Batch
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.Measure
import io.sparklatency.figures.QuerySnapshot
import org.apache.spark.sql.latency.SparkListenerLatencyBatch
import org.apache.spark.status.KVUtils
import org.apache.spark.util.kvstore.KVStore

/**
 * What every surface shows, of a running application and of one that the History Server has read. All of it can be made from
 * events. Of a run that goes on, the running figures stand in their place, because they know more: tasks that have not ended,
 * and the silence since the last batch.
 *
 * Reads the store at each call and keeps nothing. A call costs a snapshot of the running figures, under their lock, and a
 * read of the stored runs, at most a hundred. [[history]] and [[latencies]] read each batch that they give. A page of 200
 * nodes and 1,000 batches takes 0.2 to 0.4 seconds.
 *
 * Thread-safe: the threads of the UI, of REST and of the application itself call it.
 *
 * @param live      the running figures of this process, if it is the application's driver
 * @param executors their clocks, which only a driver knows
 */
final class LatencyStore private[spark] (
    store: KVStore,
    live: Option[LiveRuns],
    executors: () => Seq[ExecutorClock] = () => Nil
) {
  import LatencyStore._

  def isEmpty: Boolean = running.isEmpty && store.count(classOf[StoredRun]) == 0

  /**
   * All queries: the newest run of each, by its name. Every surface shows these. First come those that the application itself
   * still knows, in the order in which it first saw them. Then come those that are only stored, the newest first.
   */
  def queries: Seq[QuerySnapshot] = all.queries

  /** The same, and the other runs of these queries, of one moment. */
  def all: Runs = {
    val known = running
    val stored = storedBeside(known)
    val newest = newestBeside(known, stored)
    val shown = newest.map(_.key).toSet
    val earlier = stored.filterNot(run => shown(run.key)).map { run =>
      val (id, runId) = (Option(run.queryId), Option(run.runId))
      EarlierRun(run.name, id, runId, runId.flatMap(status), run.batches, run.committedMs)
    }
    Runs(known ++ newest.map(snapshot), earlier)
  }

  /** All that is to be said of a run. */
  def answer(query: QuerySnapshot): QueryAnswer = {
    val status = query.runId.flatMap(this.status)
    new QueryAnswer(query, status, if (status.forall(_ == RunStatus.Running)) clocks else Nil)
  }

  /** The clocks of the executors that are there now. */
  def clocks: Seq[ExecutorClock] = executors()

  def queryNames: Seq[String] = {
    val known = running
    (known.map(_.name) ++ storedBeside(known).map(_.name)).distinct
  }

  /** Finds a run by its own id. A query's name or id finds the query's newest run. */
  def query(key: String): Option[QuerySnapshot] = {
    val known = running
    val stored = storedBeside(known)
    def find(inRunning: QuerySnapshot => Boolean, inStored: StoredRun => Boolean) =
      known.findLast(inRunning).orElse(stored.find(inStored).map(snapshot))
    find(_.runId.contains(key), _.runId == key)
      .orElse(find(
        query => query.name == key || query.id.contains(key),
        query => query.name == key || query.queryId == key
      ))
  }

  /**
   * How the run of a streaming query goes, or how it ended. None where no event tells: for batch queries, and for a run whose
   * driver was killed or whose event log goes on.
   */
  private def status(run: String): Option[RunStatus] =
    if (live.exists(_.isRunning(run))) Some(RunStatus.Running)
    else Try(store.read(classOf[StoredEnd], run)).toOption.map(end =>
      if (end.hasFailed) RunStatus.Failed else RunStatus.Finished
    )

  /** The last batches of a run, oldest first. */
  def history(query: QuerySnapshot, limit: Int = Int.MaxValue): Seq[Batch] =
    newest(query.key)(_.take(limit).map(_.record).toSeq).reverse

  /**
   * How the latency of some nodes went over all kept batches of a run, oldest first. Only the figures of these nodes are
   * decoded.
   */
  def latencies(query: QuerySnapshot, nodes: Set[String]): Map[String, Seq[LatencyChart.Point]] =
    newest(query.key)(_.flatMap { batch =>
      batch.nodes.filter(node => nodes(node.id)).map { node =>
        node.id -> LatencyChart.Point(batch.committedMs, node.node(Measure.E2ELatency))
      }
    }.toSeq).reverse.groupMap { case (node, _) => node } { case (_, point) => point }

  private def running: Seq[QuerySnapshot] = live.toSeq.flatMap(_.snapshot())

  private def newestBeside(known: Seq[QuerySnapshot], stored: Seq[StoredRun]): Seq[StoredRun] = {
    val names = known.map(_.name).toSet
    stored.filterNot(query => names(query.name)).distinctBy(_.name)
  }

  /** First the run that was told of last. */
  private def storedBeside(known: Seq[QuerySnapshot]): Seq[StoredRun] = {
    val keys = known.map(_.key).toSet
    KVUtils.viewToSeq(
      store.view(classOf[StoredRun])
    ).filterNot(query => keys(query.key)).sortBy(-_.told)
  }

  /**
   * Hands over a run's batches, newest first. The store reads each when it is asked for, so `use` pays only for what it
   * takes.
   */
  private def newest[A](key: String)(use: Iterator[SparkListenerLatencyBatch] => A): A = {
    val batches = store.view(classOf[StoredBatch]).parent(key).reverse().closeableIterator()
    try use(batches.asScala.map(_.event))
    finally batches.close()
  }

  private def snapshot(run: StoredRun): QuerySnapshot =
    newest(run.key) { batches =>
      val last = batches.nextOption()
      val explained = (last.iterator ++ batches).find(_.parts != null)
      run.snapshot.copy(lastBatch = last.map(_.record), explained = explained.map(_.record))
    }
}

object LatencyStore {

  /** @param earlier the newest first */
  final case class Runs(queries: Seq[QuerySnapshot], earlier: Seq[EarlierRun])

  /** The key under which a run that still goes on is stored too. */
  private implicit final class KeyOf(query: QuerySnapshot) {
    def key: String = StoredRun.key(query.runId, query.name)
  }
}
