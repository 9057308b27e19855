package org.apache.spark.sql.latency

import scala.util.control.NonFatal

import io.sparklatency.NodeRole
import io.sparklatency.spark.LatencyConf
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.ColumnarRule
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.command.DataWritingCommandExec
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.streaming.continuous.WriteToContinuousDataSourceExec
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.internal.SQLConf

/**
 * Marks the plan of a streaming query by itself, where `spark.sparklatency.auto` asks for it: at its sources, at its end, above
 * each operator that keeps state.
 *
 * These marks go into the physical plan, when optimizer and planner have done all they do, and before operators are gathered
 * into stages of generated code. So the filters that were pushed, the columns that were pruned, joins, shuffles and stages are
 * those of the query without them. On the other hand nothing keeps a timestamp alive for them: a place to which none survives
 * is left out, and the reason is logged once.
 */
private[latency] final case class AutomaticNodes(session: SparkSession) extends ColumnarRule with Logging {

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      try if (isWanted(plan)) new Marking(session, plan).marked else plan
      catch { case NonFatal(e) => logWarning("a query is not marked automatically", e); plan }
  }

  /** An adaptive plan comes by again, stage by stage. */
  private def isWanted(plan: SparkPlan): Boolean =
    LatencyConf(session).auto.nonEmpty && !plan.exists(_.isInstanceOf[AdaptiveSparkPlanExec]) &&
      (StreamingPlan.isStateful(plan) || new StreamingSources(LatencyTracker.running(session)).areIn(plan))
}

private final class Marking(session: SparkSession, plan: SparkPlan) extends AdaptiveSparkPlanHelper {
  private val settings = LatencyConf(session)
  private val sources = new StreamingSources(LatencyTracker.running(session))
  private val timestamps = new TimestampLineage(plan, sources, session.sessionState.conf.sessionLocalTimeZone)
  private val tracker = LatencyTracker.of(session.sparkContext)
  private val query = LatencyTracker.queryName(session)
  private val ordinals = scala.collection.mutable.Map.empty[String, Int].withDefaultValue(0)
  private val writtenByHand = collectWithSubqueries(plan) { case ByHand(id) => id }.toSet

  def marked: SparkPlan = plan match {
    case stage: Exchange if isAdaptiveStage => marked(stage, Nil)
    case write @ (_: V2CommandExec | _: DataWritingCommandExec | _: WriteToContinuousDataSourceExec) =>
      write.withNewChildren(write.children.map(child => withSink(child, write :: Nil)))
    case root => withSink(root, Nil)
  }

  private def withSink(root: SparkPlan, above: List[SparkPlan]): SparkPlan = {
    val below = marked(root, above)
    if (isMarkedBelow(root)) below
    else insert(NodeRole.Terminal, "sink", root, root.output, below, above)
  }

  /** @param above what stands above `node`, nearest first */
  private def marked(node: SparkPlan, above: List[SparkPlan]): SparkPlan = {
    val below = node.mapChildren(marked(_, node :: above))
    (sources.of(node), StreamingPlan.operatorEndingAt(node, above)) match {
      case _ if isMarkedAbove(above) => below
      case (Some(stream), _) => insert(NodeRole.Source, sourceId(stream), node, Nil, below, above)
      case (_, Some(operator)) =>
        insert(NodeRole.Stateful, numbered(StreamingPlan.name(operator)), node, node.output, below, above)
      case _ => below
    }
  }

  /** @param work columns that must have been computed before the clock is read */
  private def insert(
      role: NodeRole,
      id: String,
      node: SparkPlan,
      work: Seq[Attribute],
      below: SparkPlan,
      above: List[SparkPlan]
  ): SparkPlan =
    if (!settings.auto.contains(role) || !settings.recordingLevel.records(role.level)) below
    else if (writtenByHand.contains(id)) leaveOut(id, "a node written by hand has this id", below)
    else timestamps.of(node) match {
      case None =>
        leaveOut(id, s"no column there holds a record timestamp: ${node.output.map(_.name).mkString(", ")}", below)
      case Some(timestamp) =>
        val record = RecordE2ELatency(timestamp, work, id)(LatencyTracker.accumulator(session, id))
        val compiled = isCompiled(node) || above.headOption.exists(isCompiled)
        FilterExec(if (compiled) record else Uncompiled(record), below)
    }

  private def leaveOut(id: String, reason: String, below: SparkPlan): SparkPlan = {
    tracker.tellOnce(query, s"node '$id' is left out: $reason")
    below
  }

  private def sourceId(stream: SparkDataStream): String = {
    val ordinal = sources.ordinal(stream).getOrElse(ordinals("source"))
    ordinals("source") += 1
    s"source-$ordinal-${StreamingSources.name(stream)}"
  }

  private def numbered(name: String): String = {
    ordinals(name) += 1
    s"$name-${ordinals(name)}"
  }

  /** A mark by hand with no work between it and this place measures the same. */
  private def isMarkedAbove(above: List[SparkPlan]): Boolean =
    above.takeWhile(doesNoWork).exists(isByHand)

  private def isMarkedBelow(node: SparkPlan): Boolean =
    doesNoWork(node) && (isByHand(node) || node.children.exists(isMarkedBelow))

  private def doesNoWork(node: SparkPlan): Boolean = node match {
    case project: ProjectExec => project.projectList.forall {
        case _: Attribute | Alias(_: Attribute, _) => true
        case _ => false
      }
    case _: EventTimeWatermarkExec => true
    case other => isByHand(other)
  }

  private def isByHand(node: SparkPlan): Boolean = ByHand.unapply(node).nonEmpty

  private object ByHand {
    def unapply(node: SparkPlan): Option[String] = node match {
      case FilterExec(mark: RecordE2ELatency, _) => Some(mark.node)
      case _ => None
    }
  }

  /** Where neither neighbour is in a stage of generated code, a mark must not make one. */
  private def isCompiled(node: SparkPlan): Boolean = node match {
    case _: LocalTableScanExec => false // never a stage by itself
    case codegen: CodegenSupport => codegen.supportCodegen
    case other => other.supportsColumnar // its rows are made in a stage
  }

  /** Stateless queries are planned adaptively, and then only a stage ends in an exchange. */
  private def isAdaptiveStage: Boolean = {
    val conf = session.sessionState.conf
    conf.adaptiveExecutionEnabled && conf.getConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED_IN_STATELESS_STREAMING) &&
    !StreamingPlan.isStateful(plan)
  }
}
