package org.apache.spark.sql.latency.history

import scala.collection.mutable

import io.sparklatency.figures.Batch
import io.sparklatency.figures.FiguresMaker
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.RunFigures
import io.sparklatency.figures.WatermarkKey
import io.sparklatency.figures.WindowSamples
import io.sparklatency.figures.WindowSettings
import io.sparklatency.time.ManualClock

/**
 * Folds the batches of runs as their driver did, on a clock that shows the commit of each. So a History Server shows what the
 * driver showed.
 *
 * Keeps a few kilobytes for each node of each run until [[forget]]. A batch costs a merge for each node. Not thread-safe: the
 * archive's thread uses it.
 */
private[history] final class RunsOfEvents {
  import RunsOfEvents._

  private val runs = mutable.Map.empty[String, Replayed]

  /** The figures of a run after this batch of it. */
  def add(key: String, batch: Batch, window: WindowSettings): QuerySnapshot =
    runs.getOrElseUpdate(key, new Replayed(batch, window)).add(batch)

  def forget(key: String): Unit = { runs.remove(key); () }
}

/** What the archive's thread keeps of each run. Nothing here is shared with another thread. */
private object RunsOfEvents {

  /** One run and its clock. Its figures grow with its nodes, not with its batches. */
  private final class Replayed(first: Batch, window: WindowSettings) {
    private val clock = new ManualClock(first.committedMs)
    private val owner = MarkOwner(NodeKey(first.query, ""), first.queryId, first.runId)
    private val run = new RunFigures(owner, Granularity.Operator, new Maker(clock, window))

    def add(batch: Batch): QuerySnapshot = {
      clock.set(batch.committedMs)
      run.replay(batch)
      run.snapshot(batch.committedMs)
    }
  }

  /** Makes figures without a limit on their number: the driver has folded nodes that are too many before it wrote the event. */
  private final class Maker(clock: ManualClock, override val window: WindowSettings) extends FiguresMaker {
    private val samples = WindowSamples(window, clock)
    override def hasRoom: Boolean = true
    override def hasRoomForTask: Boolean = true
    override def node(node: String, measure: Measure): LiveFigures = new LiveFigures(clock, samples)
    override def operator(node: String): OperatorLatency = new OperatorLatency
    override def hasRoomForMarkers: Boolean = true
    override def marker(key: MarkerKey): LiveFigures = new LiveFigures(clock, samples)
    override def watermark(key: WatermarkKey): Unit = ()
    override def task(task: String, node: Option[String]): LiveFigures = new LiveFigures(clock, samples)
  }
}
