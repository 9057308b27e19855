package org.apache.spark.sql.latency.tracking

import java.util.IdentityHashMap

import scala.collection.mutable

import io.sparklatency.figures.NodeTimestamp
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.latency.marking.NoTimestamp
import org.apache.spark.sql.latency.marking.TimestampColumn
import org.apache.spark.sql.latency.planning.TableScan
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.latency.recording.RecordE2ELatency
import org.apache.spark.sql.latency.recording.RecordExpression

/**
 * Finds the marks of a plan that was run, each once, also in what Spark keeps apart from the tree: subqueries, cached plans,
 * reused exchanges, and stages that an adaptive plan has dropped.
 *
 * Costs one walk over the plan for each execution. Without state; the listener's thread calls it.
 */
private[latency] object ExecutedMarks {

  /** Upstream first. */
  def of(plan: SparkPlan): Seq[ExecutedMark] = {
    val walk = new Walk
    walk.stretch(plan)
    walk.found.toSeq.distinctBy(_.figures.id)
      .map(mark => mark.copy(isPassedOn = walk.passedOn(mark.figures.id)))
  }

  /**
   * What stands below a place.
   *
   * @param nodes those whose records come to it directly
   * @param marks by their accumulators: a node may stand in two branches
   * @param aside those of subqueries in between: rows are compared with their records, which do not come along
   * @param begins whether rows come to it from where nobody knows what they are, as those of a foreachBatch's DataFrame
   */
  private final case class Below(
      nodes: Set[String],
      marks: Set[Long],
      aside: Set[String],
      begins: Boolean
  )

  /** One walk, used once by one thread. It numbers stretches as it leaves them, and remembers which nodes end each of them. */
  private final class Walk {
    val found = mutable.ArrayBuffer.empty[ExecutedMark]
    val passedOn = mutable.Set.empty[Long] // marks that are no ends
    private val belowOf = new IdentityHashMap[SparkPlan, Below]
    private val origins = new TimestampOrigins
    private val originsAt = mutable.Map.empty[String, Set[TimestampOrigins.Origin]]
    private var stretches = 0

    /** What leaves a stretch. It gets its number after the stretches that it reads from. */
    def stretch(root: SparkPlan): Below = {
      if (!belowOf.containsKey(root)) {
        val marks = mutable.ArrayBuffer.empty[ExecutedMark]
        belowOf.put(root, walk(root, marks))
        found ++= marks.map(_.copy(subtopology = stretches)) // its number is known only now
        stretches += 1
      }
      belowOf.get(root)
    }

    private def walk(node: SparkPlan, marks: mutable.Buffer[ExecutedMark]): Below =
      node match {
        case adaptive: AdaptiveSparkPlanExec =>
          val below = walk(adaptive.executedPlan, marks)
          // The rest of a query is planned anew while it runs, and a stage that has run may be dropped from the final plan.
          if (adaptive.initialPlan ne adaptive.executedPlan) {
            val numbered = stretches
            walk(adaptive.initialPlan, marks)
            stretches = numbered
          }
          below
        case stage: QueryStageExec => walk(stage.plan, marks)
        case reused: ReusedExchangeExec =>
          val below = walk(reused.child, marks)
          origins.passed(reused)
          below
        case exchange: Exchange => stretch(exchange.child)
        case cached: InMemoryTableScanExec => stretch(cached.relation.cachedPlan)
        case other =>
          val beside = other.subqueries.map(stretch)
          passedOn ++= beside.flatMap(_.marks) // no record leaves the query there
          val aside = beside.flatMap(of => of.nodes ++ of.aside)
          val ways = other.children.map(walk(_, marks))
          val below = Below(
            ways.flatMap(_.nodes).toSet,
            ways.flatMap(_.marks).toSet,
            ways.flatMap(_.aside).toSet ++ aside,
            if (ways.isEmpty) !TableScan.is(other) else ways.exists(_.begins)
          )
          origins.passed(other)
          other match {
            case MarkOperator(mark, child) =>
              marks += executed(mark, child, below, byHand = MarkOperator.idByHand(other).nonEmpty)
              if (mark.isOfLatency) {
                passedOn ++= below.marks
                Below(Set(mark.node), Set(mark.figures.id), Set.empty, begins = false)
              } else below
            case _ => below
          }
      }

    private def executed(
        mark: RecordExpression,
        child: SparkPlan,
        below: Below,
        byHand: Boolean
    ): ExecutedMark = {
      val timestamp = timestampOf(mark)
      val here = timestamp.fold(Set.empty[TimestampOrigins.Origin])(origins.of)
      val dated = datedBy(here) // before it counts itself
      val another = goesByAnother(mark, here, below.nodes)
      ExecutedMark(
        mark.figures,
        subtopology = stretches,
        upstream = below.nodes,
        aside = below.aside,
        begins = below.begins,
        timestamp = timestamp.map(read => NodeTimestamp(TimestampColumn.nameOf(read), another)),
        readsSource = readsSource(child),
        isAutomatic = !byHand,
        streams = if (byHand) streams(child) else Set.empty,
        dated = dated
      )
    }

    /** The nodes so far that go by the same. */
    private def datedBy(here: Set[TimestampOrigins.Origin]): Set[String] = originsAt.collect {
      case (node, there) if there.exists(origin => here.exists(origin.overlaps)) => node
    }.toSet

    /** Whether the timestamp of a mark has nothing to do with those of the marks before it. */
    private def goesByAnother(
        mark: RecordExpression,
        here: Set[TimestampOrigins.Origin],
        upstream: Set[String]
    ): Boolean = {
      val before = upstream.flatMap(originsAt.getOrElse(_, Set.empty))
      if (mark.isOfLatency) originsAt(mark.node) = originsAt.getOrElse(mark.node, Set.empty) ++ here
      origins.areApart(here, before)
    }
  }

  /** By which a mark knows how old records are; none where they have none, or where it is of something else. */
  private def timestampOf(mark: RecordExpression): Option[Expression] = Some(mark).collect {
    case ages: RecordE2ELatency if !NoTimestamp.is(ages.timestamp) => ages.timestamp
  }

  /**
   * Whether rows come from a source in the same stretch. A table that is broadcast to it, or a subquery, is read beside it, and says
   * nothing of that.
   */
  private def readsSource(plan: SparkPlan): Boolean = plan match {
    case _: Exchange | _: ReusedExchangeExec | _: InMemoryTableScanExec => false
    case adaptive: AdaptiveSparkPlanExec => readsSource(adaptive.executedPlan)
    case stage: QueryStageExec => readsSource(stage.plan)
    case leaf if leaf.children.isEmpty => true
    case other => other.children.exists(readsSource)
  }

  /** Each stream of a query has columns of its own. They stay the same where a batch finds nothing in it. */
  private def streams(plan: SparkPlan): Set[Long] = plan match {
    case adaptive: AdaptiveSparkPlanExec => streams(adaptive.executedPlan)
    case stage: QueryStageExec => streams(stage.plan)
    case reused: ReusedExchangeExec => streams(reused.child)
    case leaf if leaf.children.isEmpty =>
      if (leaf.logicalLink.exists(_.isStreaming)) leaf.output.map(_.exprId.id).toSet else Set.empty
    case other => other.children.flatMap(streams).toSet
  }
}
