package io.sparklatency.figures

import scala.annotation.tailrec

import io.sparklatency.recording.LatencySummary

/**
 * A query's figures at one instant.
 *
 * @param nodes     in plan order, upstream first
 * @param folded    how many nodes and tasks were too many and are in `__other__`
 * @param lastBatch the last batch whose results were committed
 * @param oldestUncommittedMs how old the oldest record is that the query has read and not committed, as far as its tasks have told
 * @param covers    what the window of its figures covers
 * @param times     who was at work for the last batch that had records
 * @param explained the last batch of which it is known what made its records old
 * @param usuallyMs how long it was from one commit to the next, in the middle of the last ten
 * @param takesMs   the same of how long a batch took
 * @param atMs      the instant, of a run that goes on in this process
 * @param activity  what the run did then
 * @param soFar     who was at work for the batch in progress, up to now; none where no batch ends
 * @param outOfOrder how far all its records came behind the newest event time of the batches before theirs, where that is known
 * @param markers   its latency markers; none where they are off. Of a run that is only stored the partitions of a node are together
 * @param unmarkedMs when its last batch was committed, of a run of which no batch had a node with figures
 * @param workedMs  when the batch was committed of which `times` are
 * @param hasNodes  whether its driver has planned nodes, though no batch of it may be told yet
 * @param droppedLate how many rows its operators have dropped as late, as Spark counts them
 * @param progressMs when a task was last known to get on: a record more had come to it, or it had ended well
 * @param failedTasks which attempts of its tasks have failed; none where nobody has told
 * @param lostExecutors those that were lost since the run began, the last one last; none where only events are known
 * @param endless   whether no batch ends for minutes, or ever, by what its plans or its events tell: also of a run that has ended
 */
final case class QuerySnapshot(
    name: String,
    id: Option[String],
    runId: Option[String],
    batches: Long,
    nodes: Seq[NodeSnapshot],
    folded: Int,
    lastBatch: Option[Batch],
    oldestUncommittedMs: Option[Long] = None,
    covers: WindowSettings = WindowSettings(),
    times: Option[BatchTimes] = None,
    explained: Option[Batch] = None,
    usuallyMs: Option[Double] = None,
    takesMs: Option[Double] = None,
    atMs: Option[Long] = None,
    activity: Option[Activity] = None,
    soFar: Option[BatchTimes] = None,
    outOfOrder: LatencySummary = LatencySummary.empty,
    markers: Option[MarkersSnapshot] = None,
    unmarkedMs: Option[Long] = None,
    workedMs: Option[Long] = None,
    hasNodes: Boolean = false,
    droppedLate: Long = 0,
    progressMs: Option[Long] = None,
    failedTasks: Option[FailedTasks] = None,
    lostExecutors: Seq[LostExecutor] = Nil,
    endless: Boolean = false
) {

  /** How long ago the last batch was committed; 0 where the clock has been set back behind that. */
  def sinceCommitMs: Option[Long] =
    for (at <- atMs; committed <- lastBatch.map(_.committedMs).orElse(unmarkedMs))
      yield (at - committed).max(0)

  /** Whether batches of the run were committed, and none of its nodes has figures. */
  def isUnmarked: Boolean =
    unmarkedMs.nonEmpty || !hasNodes && batches == 0 && activity.exists(_.hasCommitted)

  /** Whether no batch ends for minutes, or ever: what running tasks have shown is all there is. */
  def hasNoEnd: Boolean = endless || activity.exists(_.hasNoEnd)

  /** For how long the batch in progress has run; none for the moment until the first commit of a run without figures is told. */
  def runningMs: Option[Long] = activity.flatMap(_.sinceMs).filterNot(_ => isUnmarked && takesMs.isEmpty)

  /** How long a batch takes usually; none where it goes on for as long as it is set to. */
  def usuallyTakesMs: Option[Double] = takesMs.filterNot(_ => hasNoEnd)

  /** For how long none of the tasks of the batch in progress has got on, as far as is known. */
  def sinceProgressMs: Option[Long] = for (running <- runningMs; at <- atMs)
    yield progressMs.fold(running)(last => (at - last).max(0).min(running))

  /** How many records its last trigger left; none where no source tells it. */
  def recordsLag: Option[Long] =
    activity.map(_.left).filter(_.nonEmpty).map(_.map(_.records).sum)

  /** How many rows its operators have dropped as late, of all batches, as Spark counts them. An aggregation counts what it had added up. */
  def rowsDroppedLate: Option[Long] = Option.when(batches > 0)(droppedLate)

  /** How far the watermark is behind the clock: now where the run goes on, else at the last commit. */
  def watermarkLagMs: Option[Long] = for (batch <- lastBatch; watermark <- batch.watermarkMs)
    yield seenMs(batch) - watermark

  /** The query's watermarks after its last batch. */
  def watermarks: Seq[SourceWatermark] = lastBatch.toSeq.flatMap(_.watermarks)

  /** Whether results may wait for a watermark: something in the last batch goes by it. */
  def usesWatermark: Boolean = lastBatch.exists(_.usesWatermark)

  /** Those of one [[WatermarkKey]] as the one that holds back, or else is furthest behind. */
  def watermarksByKey: Seq[SourceWatermark] = watermarks.map(_.key).distinct.map(key =>
    watermarks.filter(_.key == key).minBy(of => (!of.holdsBack, of.watermarkMs.getOrElse(Long.MinValue)))
  )

  /** The same as [[watermarkLagMs]] of one of them. */
  def watermarkLagMs(of: SourceWatermark): Option[Long] =
    for (batch <- lastBatch; watermark <- of.watermarkMs) yield seenMs(batch) - watermark

  /** For how long an idle source has been silent. */
  def idleMs(of: SourceWatermark): Option[Long] =
    for (batch <- lastBatch; since <- of.idleSinceMs) yield seenMs(batch) - since

  private def seenMs(batch: Batch): Long = atMs.getOrElse(batch.committedMs)

  /**
   * The same of a run that goes on. What its batch is to read was there when the batch was triggered, so it is at least as old. Where
   * results can be seen at once, nobody waits for the commit.
   *
   * @param uncommittedMs the timestamp of the oldest record that ended tasks have read and that is not committed
   */
  def doing(now: Option[Activity], nowMs: Long, uncommittedMs: Option[Long] = None): QuerySnapshot = {
    val waits = now.filter(_.hasData).flatMap(_.sinceMs)
    val oldest = (oldestUncommittedMs ++ uncommittedMs.map(nowMs - _) ++ waits).maxOption
      .filterNot(_ => now.exists(_.hasNoEnd))
    copy(activity = now, atMs = Some(nowMs), oldestUncommittedMs = oldest)
  }

  /** The same when nothing is within the window any more. */
  def afterWindow: QuerySnapshot = {
    def after(figures: MeasureSnapshot) = figures.copy(window = LatencySummary.empty, settledMax = None)
    copy(
      nodes = nodes.map(node =>
        node.copy(measures = node.measures.map { case (of, figures) => of -> after(figures) })
      ),
      markers =
        markers.map(all => all.copy(of = all.of.map(one => one.copy(figures = after(one.figures)))))
    )
  }

  /** The same with what the operators of the batch in progress did. */
  def workingSoFar(times: Option[BatchTimes]): QuerySnapshot =
    copy(soFar = times.filterNot(_ => hasNoEnd).map(of => of.copy(batch = activity.fold(of.batch)(_.batch))))

  /** All nodes on the way to a node whose ages are by the same timestamp, nearest first. */
  def upstreamOf(node: NodeSnapshot): Seq[NodeSnapshot] = {
    val byId = nodes.map(node => node.id -> node).toMap
    @tailrec
    def follow(front: Seq[NodeSnapshot], seen: Seq[NodeSnapshot]): Seq[NodeSnapshot] = {
      val compared = front.filterNot(_.timestamp.exists(_.isAnother))
      val next = compared.flatMap(_.upstream).distinct.flatMap(byId.get).diff(seen)
      if (next.isEmpty) seen else follow(next, seen ++ next)
    }
    follow(Seq(node), Nil)
  }

  /**
   * Whether records at a node may be so far ahead of the clock by the ends of windows that are still open, as in update and complete
   * mode.
   *
   * @param maxLead how far the furthest is; none where that is unknown
   */
  def isDatedAhead(node: NodeSnapshot, maxLead: Option[Long]): Boolean =
    openWindowMs(node).exists(most => maxLead.forall(_ <= most))

  /** How long the windows before a node are, where each batch gives out those that are open. */
  private def openWindowMs(node: NodeSnapshot): Option[Long] = {
    val windows = Seq(lastBatch, explained).flatten.flatMap(_.nodes).filter(_.held.exists(_.eachBatch))
    if (windows.isEmpty) None
    else {
      val way = (node +: upstreamOf(node)).map(_.id).toSet
      windows.filter(told => way(told.id)).flatMap(_.held).flatMap(_.windowMs).maxOption
    }
  }

  /** The window's figures of every node, as those of a batch. */
  lazy val window: Seq[NodeLatencies] = nodes.map(_.latencies(_.window))

  /** All that every node has recorded, likewise. */
  def totals: Seq[NodeLatencies] = nodes.map(_.latencies(_.total))

  /** Whether no record with a timestamp came within the window. */
  lazy val isSilent: Boolean = window.forall(_(Measure.E2ELatency).count == 0)

  /** Whether no record has a timestamp, and markers tell how long records take all the same. */
  def goesByMarkers: Boolean = markers.nonEmpty && nodes.nonEmpty &&
    nodes.forall(_.measures.get(Measure.E2ELatency).forall(_.total.count == 0))

  /** The figures of the last batch that reached each node. A batch without data, as Spark runs them, reaches few. */
  def lastBatches: Seq[NodeLatencies] = nodes.map(_.last)

  /**
   * The figures of which parts are made: of what is shown, where no batch ends. Else of the last batch that tells its parts, and of a node
   * that no record reached in it the last one that did. An operator may let nothing through for many batches: what came out before must
   * not be compared with what has come in since.
   */
  lazy val divided: Seq[NodeLatencies] =
    if (hasNoEnd) latest
    else {
      val told = explained.filter(isLastAtEnds).toSeq.flatMap(_.nodes).filter(_.hasRecords)
      val measured = told.map(node => node.id -> node.measures).toMap
      nodes.map(node => measured.get(node.id).fold(node.last)(of => node.last.copy(measures = of)))
    }

  private def isLastAtEnds(batch: Batch): Boolean = {
    val ends = NodeLatencies.last(lastBatches).map(_.id).toSet
    nodes.filter(node => ends(node.id)).forall(_.batchMs.forall(_ <= batch.committedMs))
  }

  /** The window's figures of each node; of one that is quiet its last batch. A window that closes every three minutes has figures all the time. */
  def latest: Seq[NodeLatencies] = {
    val shown = nodes.map(node => if (node.isQuiet) node.last else node.latencies(_.window))
    if (hasNoEnd) shown
    else shown.zip(nodes).map { case (figures, node) => figures.copy(ended = compared(node)) }
  }

  /**
   * By what nodes are compared while tasks run: by the batches that have ended within the window, else by the last one. Before the first
   * one has ended there is nothing but what tasks have shown; of a node that no batch has reached yet nothing is compared. Of a batch that
   * took longer than the window what a node showed first has left it, and with another node it may not: then the last batch is whole.
   */
  private lazy val compared: NodeSnapshot => Option[LatencySummary] = {
    def hasEnded(node: NodeSnapshot) = node.ended.exists(_.count > 0)
    val known = nodes.filter(node => node.ended.nonEmpty && (hasEnded(node) || node.lastLatency.count > 0))
    if (nodes.exists(_.hasLost)) node => Some(node.lastLatency)
    else if (known.isEmpty) _ => None
    else if (known.forall(hasEnded)) _.ended
    else node => Some(node.lastLatency)
  }

  /** The nodes that show their last batch, while others show the window. */
  def quiet: Seq[NodeSnapshot] = if (isSilent) Nil else nodes.filter(_.isQuiet)
}

/**
 * @param upstream ids of the nodes whose records come to this one next
 * @param batch    what the node measured in the last batch that reached it
 * @param batchMs  when that was committed
 * @param operator its operator latency in each of the last batches that tell it: see [[OperatorLatency]]
 * @param timestamp the column that says when a record happened
 * @param watermarks those of the query after that batch
 */
final case class NodeSnapshot(
    id: String,
    upstream: Seq[String],
    measures: Map[Measure, MeasureSnapshot],
    batch: Map[Measure, LatencySummary],
    operator: Seq[Double] = Nil,
    batchMs: Option[Long] = None,
    timestamp: Option[NodeTimestamp] = None,
    watermarks: Seq[SourceWatermark] = Nil
) {

  /** How far the watermark of a column was behind the clock when that batch was committed; of several of one key the one furthest behind. */
  def watermarkLagMs(of: SourceWatermark): Option[Long] = for {
    committed <- batchMs
    watermark <- watermarks.filter(_.key == of.key).flatMap(_.watermarkMs).minOption
  } yield committed - watermark

  /** Whether no record with a timestamp came within the window, and some came before. */
  def isQuiet: Boolean =
    lastLatency.count > 0 && measures.get(Measure.E2ELatency).forall(_.window.count == 0)

  /** Whether some of what the last batch measured has left the window, and not all. */
  private[figures] def hasLost: Boolean =
    measures.get(Measure.E2ELatency).map(_.window.count).exists(kept => kept > 0 && kept < lastLatency.count)

  /** The ages of batches that have ended, where running tasks have shown others. */
  private[figures] def ended: Option[LatencySummary] = measures.get(Measure.E2ELatency).flatMap(_.ended)

  private[figures] def last: NodeLatencies = NodeLatencies(id, upstream, batch, timestamp)

  private[figures] def latencies(of: MeasureSnapshot => LatencySummary): NodeLatencies =
    NodeLatencies(
      id,
      upstream,
      measures.map { case (measure, figures) => measure -> of(figures) },
      timestamp
    )

  def operatorLatencyAvg: Option[Double] = OperatorLatency.average(operator)

  def lastLatency: LatencySummary = batch.getOrElse(Measure.E2ELatency, LatencySummary.empty)
}
