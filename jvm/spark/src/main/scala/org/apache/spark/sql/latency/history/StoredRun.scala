package org.apache.spark.sql.latency.history

import scala.jdk.CollectionConverters._

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.FailedTasks
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.LatencySummary
import org.apache.spark.sql.latency.SparkListenerLatencyBatch
import org.apache.spark.sql.latency.StoredNode
import org.apache.spark.sql.latency.StoredTimes
import org.apache.spark.status.KVUtils.KVIndexParam

/**
 * A run of a query as it was when its last batch was committed. Immutable once it is written, but for what pages have made of its
 * batches. Each batch writes it anew, with three summaries of a few hundred bytes for each node and measure. The archive's thread writes
 * it, any thread may read it.
 *
 * @param told   the place of its last batch among all batches that were told. By the clock, which may be set back, runs could
 *               stand in another order
 * @param nodes  in plan order, with the sums of what all batches recorded
 * @param window each node's window at that time
 * @param latest each node in the last batch that reached it
 * @param folded how many nodes and tasks were too many
 * @param samples of the window, each of `sampleMs` milliseconds
 * @param operators each node's operator latency in the last batches that tell it
 * @param latestMs when the last batch was committed that reached each node
 * @param usuallyMs from one commit to the next
 * @param takesMs how long a batch takes; null where none told, and in a store of an earlier version
 * @param markers its latency markers; none where no batch carried any
 * @param worked the number of the last batch that had records, and `times` who was at work for it
 * @param workedMs when that was committed; null where no batch had records
 * @param outOfOrder how far records came behind the newest event time; null where nothing is known
 * @param droppedLate how many rows its operators have dropped as late; 0 in a store of an earlier version
 * @param tasksFailed how many attempts of its tasks have failed; null in a store of an earlier version
 * @param endless true where no batch ends for minutes, and `times` are of the last window; else null, and in a store of an earlier version
 * @param explained the event of the last batch that told its parts; null where it was the last of all, or none did
 */
private[spark] final class StoredRun(
    @KVIndexParam val key: String,
    val name: String,
    val queryId: String,
    val runId: String,
    val batches: Long,
    val committedMs: Long,
    val told: Long,
    val nodes: Array[StoredNode],
    val window: Array[StoredNode],
    val latest: Array[StoredNode],
    val folded: Int,
    val samples: Int,
    val sampleMs: Long,
    val operators: java.util.Map[String, Array[Double]],
    val worked: Long,
    val times: StoredTimes,
    val latestMs: java.util.Map[String, java.lang.Long],
    val usuallyMs: java.lang.Double,
    val takesMs: java.lang.Double,
    val markers: StoredRunMarkers,
    val workedMs: java.lang.Long,
    val outOfOrder: Array[Byte],
    val droppedLate: Long,
    val tasksFailed: java.lang.Long,
    val endless: java.lang.Boolean,
    val explained: SparkListenerLatencyBatch
) {
  @transient private[this] var keptBatches = Option.empty[Vector[StoredBatch]]

  /** The batches that are kept, the newest first: a store in memory sorts them at each look. None once the run was read from disk. */
  private[history] def kept: Option[Vector[StoredBatch]] = keptBatches

  @transient private[this] var made = new MadeOfBatch

  /** What pages have made of these batches. A store in memory has the same one after each batch of the run. */
  private[history] def shown: MadeOfBatch = made

  /** Before it is written. */
  private[history] def keeping(batches: Option[Vector[StoredBatch]], shown: MadeOfBatch): this.type = {
    keptBatches = batches
    made = shown
    this
  }

  /** The figures as they were, without the last batch: that is stored apart, and may have been dropped. */
  def snapshot: QuerySnapshot = {
    val (shown, last) = (measuresOf(window), measuresOf(latest))
    QuerySnapshot(
      name,
      Option(queryId),
      Option(runId),
      batches,
      nodes.toSeq.map(_.node).map { node =>
        val measures = node.measures.map { case (measure, total) =>
          val inWindow = shown.getOrElse(node.id, Map.empty).getOrElse(measure, LatencySummary.empty)
          measure -> MeasureSnapshot(total, inWindow, total)
        }
        val operator = Option(operators.get(node.id)).toSeq.flatten
        val batchMs = Option(latestMs.get(node.id)).map(_.toLong)
        NodeSnapshot(
          node.id,
          node.upstream,
          measures,
          last.getOrElse(node.id, Map.empty),
          operator,
          batchMs,
          node.timestamp
        )
      },
      folded,
      lastBatch = None,
      covers = WindowSettings(samples, sampleMs),
      times = Option(times).map(_.times(worked).copy(of = timesOf)),
      usuallyMs = Option(usuallyMs).map(_.toDouble),
      takesMs = Option(takesMs).map(_.toDouble),
      markers = Option(markers).map(_.snapshot),
      outOfOrder = Option(outOfOrder).fold(LatencySummary.empty)(LatencySummary.fromBytes(_)),
      workedMs = Option(workedMs).map(_.toLong),
      droppedLate = droppedLate,
      failedTasks = Option(tasksFailed).map(FailedTasks(_)),
      endless = endless != null
    )
  }

  private def timesOf: BatchTimes.Of = if (endless == null) BatchTimes.Batch else BatchTimes.Window

  private def measuresOf(nodes: Array[StoredNode]): Map[String, Map[Measure, LatencySummary]] =
    nodes.map(fields => fields.id -> fields.node.measures).toMap
}

/** Makes stored runs and their keys. */
private[spark] object StoredRun {

  /** The run's id. Batch queries have no runs: all of them are one, under their name. */
  def key(runId: Option[String], name: String): String = runId.getOrElse(name)

  def apply(
      run: QuerySnapshot,
      committedMs: Long,
      told: Long,
      explained: Option[SparkListenerLatencyBatch]
  ): StoredRun = {
    def stored(nodes: Seq[NodeLatencies]) = nodes.map(StoredNode(_)).toArray
    new StoredRun(
      key(run.runId, run.name),
      run.name,
      run.id.orNull,
      run.runId.orNull,
      run.batches,
      committedMs,
      told,
      stored(run.totals),
      stored(run.window),
      stored(run.lastBatches),
      run.folded,
      run.covers.samples,
      run.covers.sampleMs,
      run.nodes.map(node => node.id -> node.operator.toArray).toMap.asJava,
      run.times.fold(0L)(_.batch),
      run.times.map(StoredTimes(_)).orNull,
      run.nodes.flatMap(node => node.batchMs.map(ms => node.id -> Long.box(ms))).toMap.asJava,
      run.usuallyMs.map(Double.box).orNull,
      run.takesMs.map(Double.box).orNull,
      run.markers.map(StoredRunMarkers(_)).orNull,
      run.workedMs.map(Long.box).orNull,
      Some(run.outOfOrder).filterNot(_.isEmpty).map(_.toBytes).orNull,
      run.droppedLate,
      run.failedTasks.map(failed => Long.box(failed.count)).orNull,
      if (run.endless) Boolean.box(true) else null,
      explained.orNull
    )
  }
}
