package org.apache.spark.sql.latency

import scala.util.control.NonFatal

import io.sparklatency.Measure
import io.sparklatency.NodeRole
import io.sparklatency.spark.LatencyConf
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.ColumnarRule
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter

/**
 * Marks the plan of a streaming query by itself, where `spark.sparklatency.auto` asks for it: at its sources, at its end, above
 * each operator that keeps state. With `spark.sparklatency.auto.batch` also that of a batch query.
 *
 * These marks go into the physical plan, when optimizer and planner have done all they do, and before operators are gathered
 * into stages of generated code. So the filters that were pushed, the columns that were pruned, joins, shuffles and stages are
 * those of the query without them. On the other hand nothing keeps a timestamp alive for them: a place to which none survives
 * is left out, and the reason is logged once.
 */
private[latency] final case class AutomaticNodes(session: SparkSession) extends ColumnarRule {

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      try marked(plan)
      catch {
        case NonFatal(e) =>
          LatencyTracker.of(session.sparkContext).tellOnce(
            Planning.queryName(session),
            s"not marked automatically: $e"
          )
          plan
      }
  }

  private def settings = LatencyConf(session)

  /** An adaptive plan comes by again, stage by stage. */
  private def marked(plan: SparkPlan): SparkPlan =
    if (settings.auto.isEmpty || plan.exists(_.isInstanceOf[AdaptiveSparkPlanExec])) plan
    else {
      val query = Planning.running(session)
      val sources = new StreamingSources(query)
      if (StreamingPlan.isStateful(plan) || sources.areIn(plan)) new Marking(session, plan, sources).marked
      else if (query.isEmpty && settings.autoBatch) execution.fold(plan)(markedBatch(plan, _))
      else plan
    }

  private def markedBatch(plan: SparkPlan, execution: QueryExecution): SparkPlan = {
    val sources = new BatchSources(execution)
    for (source <- sources.withoutTimestamp(plan) if settings.auto.contains(NodeRole.Source))
      LatencyTracker.of(session.sparkContext).tellOnce(
        Planning.queryName(session),
        s"reads of $source are left out: they have no record timestamp of their own; mark them by hand"
      )
    if (sources.areIn(plan)) new Marking(session, plan, sources).marked else plan
  }

  /** What this thread runs. A plan that is made at another time may be there to be cached, or to be shown. */
  private def execution: Option[QueryExecution] =
    Option(session.sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY))
      .flatMap(id => Option(SQLExecution.getQueryExecution(id.toLong)))
}

private final class Marking(session: SparkSession, plan: SparkPlan, sources: RecordSources)
    extends AdaptiveSparkPlanHelper {
  private val settings = LatencyConf(session)
  private val conf = session.sessionState.conf
  private val timestamps = new TimestampLineage(plan, sources, conf.sessionLocalTimeZone)
  private val tracker = LatencyTracker.of(session.sparkContext)
  private val query = Planning.queryName(session)
  private val writtenByHand = collectWithSubqueries(plan)(Function.unlift(idByHand)).toSet
  private var sourcesSeen = 0

  /** The operators whose end is a node by hand already, and its id. */
  private val endsByHand = endingByHand(plan, Nil).toMap

  /** The node of each operator: one by hand that stands at its end, else `aggregate-1`, `aggregate-2`, `join-1`, … */
  private val operators: Seq[(StateStoreWriter, String)] =
    if (!records(NodeRole.Stateful)) Nil
    else StreamingPlan.operators(plan).groupBy(StreamingPlan.name).toSeq.flatMap { case (name, same) =>
      same.zipWithIndex.map { case (operator, i) =>
        operator -> endsByHand.getOrElse(operator, s"$name-${i + 1}")
      }
    }

  def marked: SparkPlan = if (sources.endWith(plan)) withSink(plan, Nil) else marked(plan, Nil)

  private def withSink(root: SparkPlan, above: List[SparkPlan]): SparkPlan = root match {
    case Written(rows) => root.withNewChildren(Seq(withSink(rows, root :: above)))
    case rows =>
      val below = marked(rows, above)
      if (!records(NodeRole.Terminal) || isMarkedBelow(rows)) below
      else latency("sink", rows, rows.output).fold(below)(insert(_, rows, below, above))
  }

  /** @param above what stands above `node`, nearest first */
  private def marked(node: SparkPlan, above: List[SparkPlan]): SparkPlan = {
    val below = node.mapChildren(marked(_, node :: above))
    val marks =
      if (markAbove(above).nonEmpty) Nil
      else sources.of(node).flatMap(atSource(_, node)) ++ StreamingPlan.operatorEndingAt(
        node,
        above
      ).flatMap(atEnd(_, node))
    (marks ++ operators.flatMap { case (operator, id) => atIntake(operator, id, node) })
      .foldLeft(below)((below, mark) => insert(mark, node, below, above))
  }

  private def atSource(source: RecordSource, node: SparkPlan): Option[RecordExpression] = {
    val id = s"source-${source.ordinal.getOrElse(sourcesSeen)}-${source.name}"
    sourcesSeen += 1
    // What a source gives out has been worked for: no column needs to be computed first.
    if (records(NodeRole.Source)) latency(id, node, work = Nil) else None
  }

  private def atEnd(operator: StateStoreWriter, node: SparkPlan): Option[RecordExpression] =
    operators.collectFirst { case (`operator`, id) => id }.flatMap(latency(_, node, node.output))

  /** How old rows are that an operator takes in, and how late those are that it drops. */
  private def atIntake(operator: StateStoreWriter, id: String, node: SparkPlan): Seq[RecordExpression] = {
    val intake = StreamingPlan.intakes(operator).indexWhere(_ eq node)
    if (intake < 0 || isTaken(id, operator)) Nil
    else timestamps.of(node).map { timestamp =>
      val figures = Planning.accumulator(session, id, Measure.Staleness, intake)
      RecordE2ELatency(timestamp, node.output, id)(figures)
    }.toSeq ++ StreamingPlan.dropsLate(operator, node).map { case (eventTime, watermark) =>
      val figures = Planning.accumulator(session, id, Measure.Lateness, intake, Some(watermark / 1000))
      RecordLateness(eventTime, watermark, id)(figures)
    }
  }

  private def isTaken(id: String, operator: StateStoreWriter): Boolean =
    writtenByHand.contains(id) && !endsByHand.contains(operator)

  /** @param work columns that must have been computed before the clock is read */
  private def latency(id: String, node: SparkPlan, work: Seq[Attribute]): Option[RecordExpression] =
    if (writtenByHand.contains(id)) {
      leaveOut(id, "a node written by hand has this id")
      None
    } else timestamps.of(node) match {
      case Some(timestamp) =>
        Some(RecordE2ELatency(timestamp, work, id)(Planning.accumulator(session, id)))
      case None =>
        leaveOut(id, s"no column there holds a record timestamp: ${node.output.map(_.name).mkString(", ")}")
        None
    }

  private def insert(
      mark: RecordExpression,
      node: SparkPlan,
      below: SparkPlan,
      above: List[SparkPlan]
  ): SparkPlan =
    if (isCompiled(node) || above.headOption.exists(isCompiled)) FilterExec(mark, below)
    else if (Planning.hasCommits(session)) RecordExec(mark, below)
    else FilterExec(Uncompiled(mark), below)

  private def leaveOut(id: String, reason: String): Unit =
    tracker.tellOnce(query, s"node '$id' is left out: $reason")

  private def records(role: NodeRole): Boolean =
    settings.auto.contains(role) && settings.recordingLevel.records(role.level)

  private def endingByHand(node: SparkPlan, above: List[SparkPlan]): Seq[(StateStoreWriter, String)] =
    node.children.flatMap(endingByHand(_, node :: above)) ++
      StreamingPlan.operatorEndingAt(node, above).zip(markAbove(above))

  /** A mark by hand with no work between it and this place measures the same. */
  private def markAbove(above: List[SparkPlan]): Option[String] =
    above.takeWhile(doesNoWork).flatMap(idByHand).headOption

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

  private def isByHand(node: SparkPlan): Boolean = idByHand(node).nonEmpty

  private def idByHand(node: SparkPlan): Option[String] = node match {
    case FilterExec(OfPartition(mark: RecordE2ELatency), _) => Some(mark.node)
    case _ => None
  }

  /** As CollapseCodegenStages has it. Where neither neighbour is in a stage of generated code, a mark must not make one. */
  private def isCompiled(node: SparkPlan): Boolean = conf.wholeStageEnabled &&
    conf.codegenFactoryMode != CodegenObjectFactoryMode.NO_CODEGEN && isOfStage(node)

  private def isOfStage(node: SparkPlan): Boolean = node match {
    case _: LocalTableScanExec => false // never a stage by itself
    case codegen: CodegenSupport =>
      codegen.supportCodegen && !codegen.expressions.exists(_.exists(_.isInstanceOf[CodegenFallback])) &&
      !(codegen +: codegen.children).exists(plan => WholeStageCodegenExec.isTooManyFields(conf, plan.schema))
    case other => other.supportsColumnar // its rows are made in a stage
  }
}
