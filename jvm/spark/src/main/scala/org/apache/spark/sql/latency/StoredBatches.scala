package org.apache.spark.sql.latency

import scala.collection.mutable
import scala.util.Try

import com.fasterxml.jackson.annotation.JsonIgnore
import io.sparklatency.NodeRecord
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.status.KVUtils
import org.apache.spark.status.KVUtils.KVIndexParam
import org.apache.spark.util.kvstore.KVIndex
import org.apache.spark.util.kvstore.KVStore

/**
 * Writes what the events tell into Spark's store of an application, in memory while it runs, on disk where the History Server
 * keeps its stores there.
 *
 * @param kept how many batches of a run are kept, the newest; of all runs, ten times as many
 */
private[spark] final class StoredBatches(store: KVStore, kept: Int) extends SparkListener {
  private val endedWithoutBatch = mutable.LinkedHashSet.empty[String]

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case batch: SparkListenerLatencyBatch => add(batch)
    case end: QueryTerminatedEvent => addEnd(end.runId.toString, end.exception.exists(!isOfApplication(_)))
    case _ =>
  }

  private def add(batch: SparkListenerLatencyBatch): Unit = {
    val key = StoredQuery.key(Option(batch.runId), batch.query)
    val before = known(key)
    val number = before.fold(0L)(_.batches)
    store.write(new StoredBatch(StoredBatch.key(key, number), batch))
    store.write(StoredQuery(key, batch, before))
    if (number >= kept) store.delete(classOf[StoredBatch], StoredBatch.key(key, number - kept))
    if (before.isEmpty) {
      endedWithoutBatch -= key
      forgetOldest()
    }
  }

  private def known(key: String): Option[StoredQuery] = Try(store.read(classOf[StoredQuery], key)).toOption

  /**
   * Kept as long as the run is. One that nothing is known of yet may still be told of, for its last batch can come after its end;
   * of those that never are, the oldest go.
   */
  private def addEnd(run: String, hasFailed: Boolean): Unit = {
    store.write(new StoredEnd(run, hasFailed))
    if (known(run).isEmpty) endedWithoutBatch += run
    if (endedWithoutBatch.size > StoredBatches.RunsKept) {
      val oldest = endedWithoutBatch.head
      endedWithoutBatch -= oldest
      store.delete(classOf[StoredEnd], oldest)
    }
  }

  /** An application that stops before its queries do may have them end in an error, which is not theirs. */
  private def isOfApplication(error: String): Boolean =
    error.contains("stopped SparkContext") || error.contains("SparkContext was shut down")

  private def forgetOldest(): Unit = {
    val newestFirst = KVUtils.viewToSeq(store.view(classOf[StoredQuery])).sortBy(-_.committedMs)
    val batchesTo = newestFirst.scanLeft(0L)((sum, query) => sum + math.min(query.batches, kept.toLong)).tail
    newestFirst.zip(batchesTo).zipWithIndex
      .collect { case ((query, sum), i) if i >= StoredBatches.RunsKept || sum > 10L * kept => query }
      .foreach { query =>
        for (number <- math.max(0, query.batches - kept) until query.batches)
          store.delete(classOf[StoredBatch], StoredBatch.key(query.key, number))
        store.delete(classOf[StoredQuery], query.key)
        store.delete(classOf[StoredEnd], query.key)
      }
  }
}

private[spark] object StoredBatches {
  val RunsKept = 100
}

/** A batch of a run, found by its number in the run. */
private[spark] final class StoredBatch(
    @KVIndexParam(parent = StoredBatch.Query) val key: String,
    val event: SparkListenerLatencyBatch
) {

  /** By which the store finds the batches of one run without going through those of all. */
  @JsonIgnore @KVIndex(StoredBatch.Query)
  private[latency] def query: String = key.take(key.lastIndexOf('/'))
}

private[spark] object StoredBatch {
  final val Query = "query"

  def key(query: String, number: Long): String = f"$query/$number%019d"
}

/** That a run ended, and whether by an error. */
private[spark] final class StoredEnd(@KVIndexParam val run: String, val hasFailed: Boolean)

/**
 * A run of a query: what only grows, over all of its batches.
 *
 * @param nodes  with the sums of what the batches recorded
 * @param latest each node in the last batch that reached it
 */
private[spark] final class StoredQuery(
    @KVIndexParam val key: String,
    val name: String,
    val queryId: String,
    val runId: String,
    val batches: Long,
    val committedMs: Long,
    val nodes: Array[NodeFields],
    val latest: Array[NodeFields]
)

private[spark] object StoredQuery {

  /** Batch queries have no runs. */
  def key(runId: Option[String], name: String): String = runId.getOrElse(name)

  def apply(key: String, batch: SparkListenerLatencyBatch, before: Option[StoredQuery]): StoredQuery = {
    val known = before.toSeq.flatMap(_.nodes).map(node => node.id -> node.node).toMap
    val nodes = batch.nodes.map(_.node)
    val inPlan = NodeRecord.ordered(before.toSeq.flatMap(_.nodes).map(_.id), nodes.map(_.id).toSeq)
    val seen = nodes.map { node =>
      val sums = node.measures ++ known.get(node.id).toSeq.flatMap(_.measures).map { case (measure, sum) =>
        measure -> (sum + node(measure))
      }
      val upstream = (known.get(node.id).toSeq.flatMap(_.upstream) ++ node.upstream).distinct.sorted
      NodeFields(node.copy(upstream = upstream, measures = sums))
    }
    val reached = batch.nodes.zip(nodes).collect { case (fields, node) if node.hasRecords => fields }
    new StoredQuery(
      key,
      batch.query,
      batch.queryId,
      batch.runId,
      before.fold(0L)(_.batches) + 1,
      batch.committedMs,
      over(before.toSeq.flatMap(_.nodes), seen).sortBy(node => inPlan.indexOf(node.id)),
      over(before.toSeq.flatMap(_.latest), reached)
    )
  }

  private def over(before: Seq[NodeFields], now: Array[NodeFields]): Array[NodeFields] =
    now ++ before.filterNot(node => now.exists(_.id == node.id))
}
