package org.apache.spark.sql.latency.planning

import scala.collection.mutable.LinkedHashSet

import io.sparklatency.figures.MarkOwner
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.latency.recording.RecordE2ELatency

/**
 * Tells the last marks of a plan to record ages, from which the commit latency is made. Where an operator keeps state, the first
 * marks record them too: the records that come out are not those that came in. Only the whole plan shows which marks are last and
 * which are first. In real-time and continuous mode results can be seen before a commit, so no ages are recorded.
 *
 * The plan itself does not change: Spark would not notice a mark that was replaced by one with the same id.
 *
 * Runs in the planning thread, for every plan of the session, and never fails one. Costs one walk over the plan. Of adaptive plans it
 * keeps which marks were last, at most [[TerminalNodes.Kept]] of them: their stages may be planned anew, with other accumulators.
 */
private[latency] final case class TerminalNodes(session: SparkSession) extends HarmlessRule {
  private val last = new LinkedHashSet[MarkOwner]

  /**
   * Spark passes an adaptive plan as a whole before it runs, and then stage by stage. Only the whole plan has shown which marks are last,
   * also of the last stage: it does not see what stands below the stages that it reads from. If it fails there is no commit latency.
   */
  override protected def applied(plan: SparkPlan): SparkPlan = {
    if (CurrentQuery.hasBatches(session)) {
      if (AdaptiveStage.isPartOfPlan(plan)) judgeAnew(plan) else judge(plan)
    }
    plan
  }

  private def judge(whole: SparkPlan): Unit = {
    val (all, aside) = (marksIn(whole), marksAside(whole))
    aside.filterNot(mark => all.exists(_.figures.owner == mark.figures.owner))
      .foreach(_.figures.takeNoAges())
    val ends = ofStreams(lastMarks(whole), whole).map { case (mark, _) => mark }
    all.foreach(_.figures.passesOn())
    ends.foreach(_.figures.takeAges())
    if (aside.nonEmpty || whole.exists(_.isInstanceOf[AdaptiveSparkPlanExec])) remember(all ++ aside, ends)
    if (StatefulOperators.isStateful(whole)) {
      val watermarked = TimestampLineage.watermarked(whole)
      ofStreams(firstMarks(whole), whole).foreach { case (mark, below) =>
        mark.figures.takeAgesAtSource(isByAnother(mark, below, whole, watermarked))
      }
    }
  }

  /**
   * Of a stage, what the whole plan has not had: marks by hand in what was planned anew since, of which those are last that were, and
   * automatic ones. Of these nobody knows yet whether one comes behind them, in a later stage: `ExecutedMarks` tells it when all have run.
   */
  private def judgeAnew(stage: SparkPlan): Unit = {
    val byHand = marksByHandIn(stage)
    byHand.filter(mark => !mark.figures.isJudged && wasLast(mark)).foreach(_.figures.takeAges())
    lastMarks(stage).map { case (mark, _) => mark }
      .filterNot(mark => mark.figures.isJudged || byHand.exists(_.figures eq mark.figures))
      .foreach(_.figures.takeAges())
  }

  private def wasLast(mark: RecordE2ELatency): Boolean = synchronized(last.contains(mark.figures.owner))

  private def remember(all: Seq[RecordE2ELatency], ends: Seq[RecordE2ELatency]): Unit = synchronized {
    last --= all.map(_.figures.owner)
    last ++= ends.map(_.figures.owner)
    while (last.size > TerminalNodes.Kept) last -= last.head
  }

  private def marksIn(plan: SparkPlan): Seq[RecordE2ELatency] = plan match {
    case adaptive: AdaptiveSparkPlanExec => marksIn(adaptive.inputPlan)
    case MarkOperator(mark: RecordE2ELatency, child) if mark.isOfLatency => mark +: marksIn(child)
    case other => other.children.flatMap(marksIn)
  }

  private def marksByHandIn(plan: SparkPlan): Seq[RecordE2ELatency] =
    plan.collect {
      case operator @ MarkOperator(mark: RecordE2ELatency, _) if MarkOperator.idByHand(operator).nonEmpty =>
        mark
    }

  /** In subqueries, which Spark has passed here by themselves: no row leaves the query there. */
  private def marksAside(plan: SparkPlan): Seq[RecordE2ELatency] = plan match {
    case adaptive: AdaptiveSparkPlanExec => marksAside(adaptive.inputPlan)
    case other => other.subqueries.flatMap(aside => marksIn(aside) ++ marksAside(aside)) ++
        other.children.flatMap(marksAside)
  }

  /** With nothing behind them, and what is below each. */
  private def lastMarks(plan: SparkPlan): Seq[(RecordE2ELatency, SparkPlan)] = plan match {
    case MarkOperator(mark: RecordE2ELatency, child) if mark.isOfLatency => Seq(mark -> child)
    case adaptive: AdaptiveSparkPlanExec => lastMarks(adaptive.inputPlan)
    case other => other.children.flatMap(lastMarks)
  }

  /**
   * Of these marks of a plan, with what is below each, those that stand on a stream; in an action of foreachBatch those that stand on more
   * than tables. A table is read again in each batch: its rows did not come in with it, and where they go into a join none of them comes
   * out. All of them where the plan reads nothing but tables: of rows from memory nobody knows that they are none of the batch's. Costs a walk over the plan, or two.
   */
  private def ofStreams(
      marks: Seq[(RecordE2ELatency, SparkPlan)],
      whole: SparkPlan
  ): Seq[(RecordE2ELatency, SparkPlan)] = {
    val query = CurrentQuery.running(session)
    if (marks.isEmpty || query.isEmpty && marks.size < 2) marks
    else {
      val sources = new StreamingQuerySources(query)
      // A source whose scans are those of a table, as Delta's are, is known by its logical plan.
      def isStream(plan: SparkPlan) =
        sources.areIn(plan) || sources.collectLeaves(plan).exists(_.logicalLink.exists(_.isStreaming))
      def isMore(plan: SparkPlan) = !sources.collectLeaves(plan).forall(TableScan.is)
      val onStreams = marks.filter { case (_, below) => isStream(below) }
      def onMore = marks.filter { case (_, below) => isMore(below) }
      val found = if (onStreams.isEmpty && query.nonEmpty) onMore else onStreams
      def readsMore = query.nonEmpty && (isStream(whole) || isMore(whole))
      if (found.isEmpty && !readsMore) marks else found
    }
  }

  /** Whether a mark goes by another timestamp than the watermark on the way of its records. */
  private def isByAnother(
      mark: RecordE2ELatency,
      below: SparkPlan,
      whole: SparkPlan,
      watermarked: Set[ExprId]
  ): Boolean = {
    def above = whole.collect { case watermark: EventTimeWatermarkExec => watermark }
      .exists(marksIn(_).exists(_.figures eq mark.figures))
    !mark.timestamp.references.exists(column => watermarked(column.exprId)) &&
    (below.exists(_.isInstanceOf[EventTimeWatermarkExec]) || above)
  }

  /** With nothing before them that keeps state, and what is below each. */
  private def firstMarks(plan: SparkPlan): Seq[(RecordE2ELatency, SparkPlan)] = plan match {
    case adaptive: AdaptiveSparkPlanExec => firstMarks(adaptive.inputPlan)
    case MarkOperator(mark: RecordE2ELatency, child) if mark.isOfLatency =>
      firstMarks(child) match {
        case Seq() if !StatefulOperators.isStateful(child) => Seq(mark -> child)
        case before => before
      }
    case other => other.children.flatMap(firstMarks)
  }
}

private[latency] object TerminalNodes {
  val Kept = 1000
}
