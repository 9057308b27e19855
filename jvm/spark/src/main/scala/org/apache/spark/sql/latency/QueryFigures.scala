package org.apache.spark.sql.latency

import javax.management.ObjectName

import scala.collection.mutable

import io.sparklatency.BatchRecord
import io.sparklatency.Granularity
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.NodeFigures
import io.sparklatency.NodeRecord
import io.sparklatency.NodeView
import io.sparklatency.QuerySnapshot
import io.sparklatency.TaskId

/** The figures of one run of a query. Not thread-safe. */
final class QueryFigures(owner: MarkOwner, granularity: Granularity, make: FiguresMaker) {
  import QueryFigures._

  private val nodes = mutable.LinkedHashMap.empty[String, Map[Measure, NodeFigures]]
  private val tasks = mutable.Map.empty[(String, Option[String]), (NodeFigures, ObjectName)]
  private val folded = new Distinct
  private var upstream = Map.empty[String, Seq[String]]
  private var latest = Map.empty[String, Map[Measure, LatencySummary]]
  private var batches = 0L
  private var passedOn = Set.empty[String]
  private var held = Seq.empty[PlannedMark]
  private var running: Option[BatchFigures] = None
  private var lastBatch: Option[BatchRecord] = None
  var stopped = false

  def name: String = owner.key.query
  def id: Option[String] = owner.queryId
  def runId: Option[String] = owner.runId
  def figures: collection.Map[String, Map[Measure, NodeFigures]] = nodes
  def beans: Iterable[ObjectName] = tasks.values.map { case (_, bean) => bean }

  /** What a task that has ended recorded. */
  def add(node: String, measure: Measure, summary: LatencySummary): Unit = of(node, measure).add(summary)

  /**
   * The batch that runs, or whose results are not known to be committed yet. It counts when it is first asked for; Spark tells the
   * end of a micro-batch's execution twice.
   */
  def batch(id: Long): BatchFigures = running.filter(_.id == id).getOrElse {
    val batch = new BatchFigures(id)
    batch.watermarks = lastBatch.toSeq.flatMap(_.watermarks)
    running = Some(batch)
    batches += 1
    batch
  }

  /**
   * Keeps the marks of an action inside foreachBatch until its batch ends. Of several actions that one stands, node by node, which
   * read most: partitions of different executions need not be the same. Gives back the marks that do not stand.
   */
  def hold(marks: Seq[PlannedMark]): Seq[PlannedMark] = {
    val (kept, dropped) = (held ++ marks).groupBy(mark => mark.node -> mark.measure).values.map { same =>
      val (before, now) = same.partition(held.contains)
      if (recorded(now) >= recorded(before)) now -> before else before -> now
    }.unzip
    val stand = kept.flatten.toSet
    held = (held ++ marks).filter(stand)
    dropped.flatten.toSeq
  }

  private def recorded(marks: Seq[PlannedMark]): Long =
    marks.flatMap(_.figures.value.values).map(_.summary.records).sum

  /** Gives out the marks that were kept. The DataFrame that foreachBatch is given has come through those of the batch's own plan. */
  def release(own: Seq[PlannedMark]): Seq[PlannedMark] = {
    val passedOn = own.flatMap(_.upstream).toSet
    val ends = own.filter(_.measure == Measure.E2ELatency).map(_.node).toSet -- passedOn
    val released =
      held.map(mark => if (mark.upstream.isEmpty) mark.copy(upstream = ends - mark.node) else mark)
    held = Nil
    released
  }

  /** What stands of an execution. Nodes show in the order of its plan. */
  def add(marks: Seq[PlannedMark], batch: BatchFigures): Unit = {
    val known = nodes.keys.toSeq
    passedOn ++= marks.flatMap(_.upstream)
    val shown = marks.filter(mark => isShown(mark.node))
    val latencies = shown.filter(_.measure == Measure.E2ELatency)
    // A node stands where its records leave it; one that only takes records in, there.
    val inPlan = (latencies ++ shown).distinctBy(_.node).sortBy(shown.indexOf(_))
    inPlan.foreach { mark =>
      of(mark.node, mark.measure)
      if (nodes.contains(mark.node)) batch.add(mark.node, mark.upstream.toSeq.sorted)
    }
    shown.groupBy(mark => mark.node -> mark.measure).foreach { case ((node, measure), plannings) =>
      val readings = LatencyAccumulator.take(plannings.map(_.figures))
      val total = add(of(node, measure), readings)
      val place = if (nodes.contains(node)) node else Other
      batch.add(place, measure, total)
      batch.add(place, readings.flatMap(_.ages))
      if (granularity == Granularity.Subtask && measure == Measure.E2ELatency)
        addToTasks(plannings.head, latencies, readings)
    }
    order(known, inPlan.map(_.node))
    // A batch without data may have no source in its plan.
    latencies.foreach { mark =>
      upstream += mark.node -> (upstream.getOrElse(mark.node, Nil) ++ mark.upstream).distinct.sorted
    }
  }

  /** The results of a batch are committed. None if it is not the one that ran. */
  def commit(id: Long)(complete: BatchRecord => BatchRecord): Option[BatchRecord] =
    running.filter(_.id == id).map { batch =>
      val records = batch.records
      for (node <- records; ages <- node.measures.get(Measure.Commit)) of(node.id, Measure.Commit).add(ages)
      val at = batch.committedAt
      val record =
        BatchRecord(name, owner.queryId, runId, id, at, at, 0, Map.empty, None, batch.watermarks, 0, records)
      latest ++= records.filter(_.hasRecords).map(node => node.id -> node.measures)
      running = None
      lastBatch = Some(complete(record))
      lastBatch.get
    }

  private def add(figures: NodeFigures, readings: Iterable[Reading]): LatencySummary = {
    val (published, others) = readings.partition(reading => figures.hasPublished(reading.id))
    val total = LatencySummary.merge(readings.map(_.summary))
    val rest =
      if (published.isEmpty) total else LatencySummary.merge(published.map(_.rest) ++ others.map(_.summary))
    figures.add(total, rest, published.map(_.id))
    total
  }

  /** The latency of a task itself is that of the last node in its stretch of plan. */
  private def addToTasks(mark: PlannedMark, others: Seq[PlannedMark], readings: Iterable[Reading]): Unit = {
    val isLast = !others.exists(m => m.subtopology == mark.subtopology && m.upstream.contains(mark.node))
    for (reading <- readings; node <- Some(mark.node) +: (if (isLast) Seq(None) else Nil))
      ofTask(TaskId(mark.subtopology, reading.attempt.taskPartition).toString, node).add(reading.summary)
  }

  def publish(part: PublishedPart): Unit =
    if (isShown(part.owner.key.node))
      of(part.owner.key.node, part.owner.measure)
        .publish(part.reading, part.summary, part.oldestMs, part.endless)

  def ended(plannings: Set[Long]): Unit = all.foreach(_.ended(plannings))
  def forget(task: Long): Unit = all.foreach(_.forget(task))
  def keep(task: Long): Unit = all.foreach(_.keep(task))

  def snapshot(nowMs: Long): QuerySnapshot = QuerySnapshot(
    name,
    id,
    runId,
    batches,
    nodes.toSeq.map { case (node, measures) =>
      val figures = measures.map { case (measure, figures) => measure -> figures.snapshot() }
      NodeView(node, upstream.getOrElse(node, Nil), figures, latest.getOrElse(node, Map.empty))
    },
    folded.count,
    lastBatch,
    oldestUncommitted(nowMs)
  )

  private def oldestUncommitted(nowMs: Long): Option[Long] =
    (all.flatMap(_.oldestRunning) ++ runId.flatMap(OpenPlannings.oldest)).minOption.map(nowMs - _)

  /** Until the first plan is known, no node is known to have others downstream. */
  private def isShown(node: String): Boolean = granularity != Granularity.Single || !passedOn.contains(node)

  private def order(known: Seq[String], plan: Seq[String]): Unit = {
    val ordered = NodeRecord.ordered(known, plan.filter(nodes.contains))
    val all = (ordered ++ nodes.keys.toSeq.diff(ordered)).map(id => id -> nodes(id))
    nodes.clear()
    nodes ++= all
  }

  private def of(node: String, measure: Measure): NodeFigures = {
    val shown = if (nodes.contains(node) || make.hasRoom) node else fold(node)
    val measures = nodes.getOrElse(shown, Map.empty)
    measures.getOrElse(
      measure, {
        val figures = make.node(shown, measure)
        nodes(shown) = measures + (measure -> figures)
        figures
      }
    )
  }

  private def ofTask(task: String, node: Option[String]): NodeFigures = {
    val key =
      if (tasks.contains(task -> node) || make.hasRoomForTask) task -> node
      else fold(s"$task/${node.getOrElse("")}") -> node.map(_ => Other)
    val (figures, _) = tasks.getOrElseUpdate(key, make.task(key._1, key._2))
    figures
  }

  private def fold(id: String): String = {
    folded.add(id)
    Other
  }

  private def all: Iterable[NodeFigures] = nodes.values.flatMap(_.values)
}

object QueryFigures {

  /** Where nodes and tasks go that are too many. */
  val Other = "__other__"
}

/** Counts different ids, up to a limit. */
private final class Distinct {
  private val ids = mutable.Set.empty[String]
  def add(id: String): Unit = if (ids.size < 10000) ids += id
  def count: Int = ids.size
}

/** Makes figures for a query and shows them, as long as there are not too many in the process. */
trait FiguresMaker {
  def hasRoom: Boolean
  def hasRoomForTask: Boolean
  def node(node: String, measure: Measure): NodeFigures

  /** @param node none for the task as a whole */
  def task(task: String, node: Option[String]): (NodeFigures, ObjectName)
}
