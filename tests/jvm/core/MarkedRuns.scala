package io.sparklatency

import scala.collection.mutable

import io.sparklatency.figures.Batch
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresMaker
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.figures.MarkersSnapshot
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.Retries
import io.sparklatency.figures.RunFigures
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.figures.WatermarkKey
import io.sparklatency.figures.WindowSamples
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** Runs of queries with latency markers, made from what their tasks tell. Times are milliseconds. */
trait MarkedRuns extends AnyFunSuite {
  import MarkedRuns._

  protected val second = MarkerSettings(Some(1000))

  /** A run of a query, whose batches the test makes. */
  protected final class Run(
      markers: MarkerSettings,
      edges: Map[String, Set[String]],
      maxNodes: Int = 1000,
      val shown: Shown = new Shown
  ) {
    val clock = new ManualClock(1000000)
    val live = new LiveRuns(clock, FiguresSettings(maxNodes = maxNodes), shown)(_.stopped)
    private var batches = 0L
    var events = Vector.empty[Batch]
    private var run = "1"

    def owner(node: String) = MarkOwner(NodeKey("orders", node), Some("id"), Some(run))

    def batch(committed: Long, offsets: Map[String, Long] = Map.empty)(stops: At*): Unit = {
      batches += 1
      val nodes = stops.map(_.node).distinct
      val plannings = stops.map(at => at.node -> at.planning).distinct
      live.planned(nodes.map(node =>
        PlannedNode(
          owner(node),
          edges.getOrElse(node, Set.empty),
          batches * 100 + nodes.indexOf(node),
          markers = markers
        )
      ))
      // Of two readings of a partition one stands in each planning of a node, as in its accumulator.
      val marks = plannings.map { case (node, planning) =>
        val readings = stops.filter(at => at.node == node && at.planning == planning)
          .groupMapReduce(_.partition)(_.reading)(Retries.standing).values
        MarkReadings(
          node,
          Measure.E2ELatency,
          0,
          edges.getOrElse(node, Set.empty),
          readings,
          readsSource = true
        )
      }
      live.update(owner(nodes.head)) { query =>
        val batch = query.batch(batches)
        query.add(marks, batch, executor => Some(ClockOffset(offsets.getOrElse(executor, 0L), 0)))
        batch.committed(committed)
        query.commit(batches)(identity).foreach(events :+= _)
      }
      ()
    }

    /** A task that does not end tells what it did up to now, of 1000 milliseconds more. */
    def tells(task: Long, now: Long)(nodes: (String, Float, Long)*): Unit = {
      clock.set(now)
      val all = nodes.map { case (node, waited, rows) =>
        TaskReport.Node(
          ids.indexOf(node).toLong,
          task.toInt,
          TaskSlice("1", 0, now.toFloat, now.toFloat, now.toFloat, waited),
          rows
        )
      }
      live.report(TaskReport(Some(run), TaskAttempt(1, task.toInt, task), hasBatches = false, all))
    }

    private lazy val ids = edges.toSeq.flatMap { case (to, from) => from.toSeq :+ to }.distinct.sorted
    def endless(): Unit = live.planned(ids.zipWithIndex.map { case (node, planning) =>
      PlannedNode(owner(node), edges.getOrElse(node, Set.empty), planning.toLong, markers = markers)
    })

    /** What whoever reads the events of all batches makes of them. */
    def replayed: QuerySnapshot = {
      val maker = new Maker(clock)
      val read = new RunFigures(owner(""), Granularity.Operator, maker)
      events.foreach(read.replay)
      read.snapshot(clock.millis())
    }

    def restart(): Unit = {
      live.stopped(run)
      run = s"${run.toInt + 1}"
    }

    def query: QuerySnapshot = live.snapshot().last
    def found: MarkersSnapshot = query.markers.get

    /** Of each histogram: how many markers, and the shortest and longest time. */
    def histograms: Map[String, (Long, Long, Long)] = found.of.filter(_.figures.window.count > 0).map { one =>
      val window = one.figures.window
      name(one.key) -> ((window.count, window.min.get, window.max.get))
    }.toMap
  }

  protected def chain(nodes: String*): Map[String, Set[String]] =
    nodes.zip(nodes.drop(1)).map { case (from, to) => to -> Set(from) }.toMap

  protected def named(histograms: Map[String, (Long, Long, Long)], operator: String) =
    histograms.filter { case (name, _) => name.contains(s"> $operator") }
}

object MarkedRuns {

  /**
   * A node in a task, which is that of the partition unless the test says otherwise. A node may be planned twice in a batch, and its task
   * may ask for its first row later.
   */
  final case class At(
      node: String,
      partition: Int,
      from: Long,
      to: Long,
      stage: Int = 1,
      task: Option[Int] = None,
      executor: String = "1",
      records: Int = 1,
      attempt: Int = 1,
      planning: Int = 0,
      read: Long = 0
  ) {
    def reading: Reading = {
      val ms = (to - from).toFloat
      val number = task.getOrElse(partition)
      Reading(
        partition,
        TaskAttempt(stage, number, attempt * 100000L + stage * 1000L + number),
        1,
        0,
        Aged.records(Seq.fill(records)(5L): _*),
        LatencySummary.empty,
        slice = TaskSlice(executor, from * 1000, ms, ms, ms, 0, read.toFloat)
      )
    }
  }

  def name(key: MarkerKey): String = {
    def part(id: Option[String], subtask: Option[Int]) =
      id.fold("")(id => subtask.fold(id)(number => s"$id.$number"))
    s"${part(key.source, key.sourceSubtask)} > ${part(Some(key.operator), key.operatorSubtask)}".trim
  }

  /** Makes figures without a limit, as a reader of events does. */
  private final class Maker(clock: ManualClock) extends FiguresMaker {
    override val window: WindowSettings = WindowSettings()
    private val samples = WindowSamples(window, clock)
    override def hasRoom: Boolean = true
    override def hasRoomForTask: Boolean = true
    override def hasRoomForMarkers: Boolean = true
    override def node(node: String, measure: Measure): LiveFigures = new LiveFigures(clock, samples)
    override def operator(node: String): OperatorLatency = new OperatorLatency
    override def marker(key: MarkerKey): LiveFigures = new LiveFigures(clock, samples)
    override def watermark(key: WatermarkKey): Unit = ()
    override def task(task: String, node: Option[String]): LiveFigures = new LiveFigures(clock, samples)
  }

  /** What a process shows of markers. */
  final class Shown extends FiguresListener {
    val markers = mutable.Map.empty[MarkerKey, LiveFigures]
    override def addedMarker(query: String, key: MarkerKey, figures: LiveFigures): Unit =
      markers(key) = figures
    override def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit = ()
    override def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit = ()
    override def addedOperator(key: NodeKey, latency: OperatorLatency): Unit = ()
    override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = ()
    override def removed(query: String): Unit = markers.clear()
  }
}
