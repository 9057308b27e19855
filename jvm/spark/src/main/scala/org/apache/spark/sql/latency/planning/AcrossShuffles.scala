package org.apache.spark.sql.latency.planning

import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.NodeRole
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.RightOuter
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.catalyst.plans.logical.Generate
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions
import org.apache.spark.sql.catalyst.plans.logical.RepartitionOperation
import org.apache.spark.sql.catalyst.plans.logical.Sort
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.catalyst.plans.logical.Union
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.marking.KeptTimestamps
import org.apache.spark.sql.latency.marking.LatencyMark

/**
 * With `spark.sparklatency.auto.acrossShuffles` a streaming query's shuffles hand on its record timestamp too, where its end would have
 * lost it behind one. Within a stage [[CarriedTimestamp]] does the same without being asked.
 *
 * The column goes into the plan of the optimizer, below a projection to what the query gives out. So all that plans sees one plan, also
 * where Spark plans again as stages end. It never goes through state, which would keep one more column, and a watermarked one would change
 * what is late. Nor is it a stamp of ours: a row that is dealt out by its bytes must be the same in each attempt of a task.
 *
 * Runs with the optimizer, in the thread that plans, for every plan of the session. If it fails the plan stays as it is. Without the setting
 * it costs one look at the configuration, otherwise a few walks over the plan of each batch.
 */
private[latency] final case class AcrossShuffles(
    session: SparkSession,
    applications: MarkedApplication.Finder
) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    try if (isAsked && plan.isStreaming) AcrossShuffles.atEnd(plan, CurrentQuery.running(session)) else plan
    catch { case OurFailure(_) => plan } // the note of the end says that it has no timestamp

  private def isAsked: Boolean = {
    val settings = LatencyConf(session)
    settings.autoAcrossShuffles && settings.auto.contains(NodeRole.Terminal) &&
    CurrentQuery.id(session).nonEmpty &&
    new PlannedQuery(session, applications.of(session.sparkContext)).level.records(NodeRole.Terminal.level)
  }
}

private[latency] object AcrossShuffles {

  /** Whether the setting would bring a timestamp to the end of this query, whose batch is being planned. */
  def wouldHelp(query: StreamExecution): Boolean =
    Option(query.lastExecution).map(_.optimizedPlan).exists(plan => atEnd(plan, Some(query)) ne plan)

  /** The plan with a timestamp at its end; itself where it has one, can have none, or is marked by hand. */
  private def atEnd(plan: LogicalPlan, query: Option[StreamExecution]): LogicalPlan = plan match {
    case write: UnaryNode if write.output.isEmpty =>
      val wide = atEnd(write.child, query)
      if (wide eq write.child) write else write.withNewChildren(Seq(wide))
    case rows if rows.exists(isSink) || isMarkedBelow(rows) => rows
    case rows => widened(rows, new StreamTimestamps(rows, query)).getOrElse(rows)
  }

  private def widened(rows: LogicalPlan, timestamps: StreamTimestamps): Option[LogicalPlan] = rows match {
    case Project(_, KeptTimestamps(_, below, _)) if timestamps.of(below).nonEmpty => None // it is there
    case _ => withTimestamp(rows, timestamps).collect {
        case (timestamp, wide) if wide.ne(rows) && !TooWide.is(wide, before = rows) =>
          Project(rows.output, KeptTimestamps(Seq(timestamp), wide))
      }
  }

  private def isSink(plan: LogicalPlan): Boolean = plan match {
    case mark: LatencyMark => mark.node == AutomaticPlacement.Sink
    case _ => false
  }

  /** A mark by hand measures the same, where no work lies between it and the end. */
  private def isMarkedBelow(plan: LogicalPlan): Boolean = plan match {
    case _: LatencyMark => true
    case Project(columns, child) if columns.forall(isRenamed) => isMarkedBelow(child)
    case watermark: EventTimeWatermark => isMarkedBelow(watermark.child)
    case _ => false
  }

  private def isRenamed(column: NamedExpression): Boolean = column match {
    case _: Attribute | Alias(_: Attribute, _) => true
    case _ => false
  }

  /** The timestamp nearest below, and the same plan with its column beside all others; none where it does not come so far. */
  private def withTimestamp(
      plan: LogicalPlan,
      timestamps: StreamTimestamps
  ): Option[(Attribute, LogicalPlan)] =
    timestamps.of(plan).map(_ -> plan).orElse(plan match {
      case union: Union => united(union, timestamps)
      case _ => passedOn(plan).flatMap(child =>
          withTimestamp(child, timestamps).map { case (timestamp, wide) =>
            timestamp -> widened(plan, child, wide, timestamp)
          }
        )
    })

  /** One column of those of all sides. It is a new one: that of a side may be another column on the other side. */
  private def united(union: Union, timestamps: StreamTimestamps): Option[(Attribute, LogicalPlan)] = {
    val sides = union.children.map(side =>
      withTimestamp(side, timestamps).map { case (timestamp, wide) =>
        Project(side.output :+ Alias(timestamp, timestamp.name)(), wide)
      }
    )
    Option.when(sides.forall(_.nonEmpty)) {
      val wide = union.copy(children = sides.flatten)
      wide.output.last -> wide
    }
  }

  private def widened(
      plan: LogicalPlan,
      child: LogicalPlan,
      wide: LogicalPlan,
      timestamp: Attribute
  ): LogicalPlan = plan match {
    case Project(columns, _) => Project(columns :+ timestamp, wide)
    case generate: Generate =>
      val unread = generate.unrequiredChildIndex.map(child.output(_).exprId).filter(_ != timestamp.exprId)
      generate.copy(
        child = wide,
        unrequiredChildIndex = unread.map(id => wide.output.indexWhere(_.exprId == id))
      )
    case other => other.withNewChildren(other.children.map(one => if (one eq child) wide else one))
  }

  /** The child whose rows an operator gives out as they are, with columns more or less. */
  private def passedOn(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case _: Project | _: Filter | _: Generate | _: EventTimeWatermark | _: RepartitionOperation |
        _: RebalancePartitions | _: CollectMetrics | _: LatencyMark | _: KeptTimestamps =>
      plan.children.headOption
    case sort: Sort if !sort.global => Some(sort.child)
    case Join(left, right, how, _, _) if left.isStreaming != right.isStreaming =>
      how match {
        case _: InnerLike => Some(if (left.isStreaming) left else right)
        case LeftOuter => Some(left).filter(_.isStreaming)
        case RightOuter => Some(right).filter(_.isStreaming)
        case _ => None
      }
    case _ => None
  }
}
