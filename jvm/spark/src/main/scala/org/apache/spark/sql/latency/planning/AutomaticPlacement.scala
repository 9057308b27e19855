package org.apache.spark.sql.latency.planning

import io.sparklatency.answer.LeftOut
import io.sparklatency.answer.Readable
import io.sparklatency.figures.Measure
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.NodeRole
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.StateStoreWriter
import org.apache.spark.sql.latency.marking.NoTimestamp
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.latency.recording.OfBranch
import org.apache.spark.sql.latency.recording.ReadingTime
import org.apache.spark.sql.latency.recording.RecordE2ELatency
import org.apache.spark.sql.latency.recording.RecordExpression
import org.apache.spark.sql.latency.recording.RecordLateness
import org.apache.spark.sql.types.TimestampType

/**
 * Places the automatic marks in one plan. A place that is marked by hand is not marked again. The cost grows with the plan,
 * not with the data. Used once, by the thread that plans; not thread-safe.
 */
private final class AutomaticPlacement(
    session: SparkSession,
    planned: SparkPlan,
    sources: RecordSources,
    application: MarkedApplication
) extends AdaptiveSparkPlanHelper {
  import AutomaticPlacement.Sink

  private val settings = LatencyConf(session)
  private val conf = session.sessionState.conf
  private val plan =
    if (settings.autoIngestion)
      OwnStamps.in(planned, sources, lineageOf(planned), CurrentQuery.hasBatches(session))
    else planned
  private val timestamps = lineageOf(plan)
  private val accumulators = new MarkAccumulators(session, application)
  private val query = new PlannedQuery(session, application)
  private val queryName = query.name
  private val level = query.level
  private val writtenByHand = collectWithSubqueries(plan)(Function.unlift(MarkOperator.idByHand)).toSet
  private lazy val lateBySystemTime = CurrentQuery.running(session).exists(SystemTimeQueries.dropsLate)
  private var sourcesSeen = 0

  /**
   * What each source's scans read. A source may take several for a batch, as Delta does where a file has a deletion vector, or for changes.
   * Where a query reads a source twice, the scans are the same.
   */
  private lazy val scans: Map[Option[Int], Seq[FileIndex]] = collect(plan) { case scan: FileSourceScanExec =>
    sources.of(scan).map(_.ordinal -> scan.relation.location)
  }.flatten.distinct.groupMap(_._1)(_._2)

  /** What stands for a timestamp where there is none, and markers need none. */
  private val withMarkers = NoTimestamp.in(session).filter(_ => CurrentQuery.id(session).nonEmpty)

  /** Operators that end at a place, with the id of the mark by hand there. */
  private val ends = endsIn(plan, Nil)
  private val endsByHand = ends.collect { case (operator, Some(id)) => operator -> id }.toMap

  /** The node of each operator: the mark by hand at its output, else `aggregate-1`, `aggregate-2`, `join-1`, … */
  private val operators: Seq[(StateStoreWriter, String)] =
    if (!records(NodeRole.Stateful)) Nil
    else StatefulOperators.operators(plan).groupBy(StatefulOperators.name).toSeq.flatMap {
      case (name, same) =>
        same.zipWithIndex.map { case (operator, i) =>
          operator -> endsByHand.getOrElse(operator, s"$name-${i + 1}")
        }
    }

  def marked: SparkPlan = {
    operators.foreach { case (operator, id) =>
      if (StatefulOperators.givesObjects(operator) && !ends.exists(_._1 eq operator))
        leaveOut(id, AutomaticPlacement.NeverRows)
    }
    val done = if (sources.endWith(plan)) withSink(plan, Nil) else marked(plan, Nil)
    if (plan eq planned) done else OwnStamps.withoutUnread(done)
  }

  private def lineageOf(plan: SparkPlan): TimestampLineage =
    new TimestampLineage(plan, sources, conf.sessionLocalTimeZone)

  private def withSink(root: SparkPlan, above: List[SparkPlan]): SparkPlan = root match {
    case WriteCommand(rows) => root.withNewChildren(Seq(withSink(rows, root :: above)))
    case rows =>
      val below = marked(rows, above)
      if (!records(NodeRole.Terminal) || isMarkedBelow(rows)) below
      else ended(Sink, rows, below, above, work = rows.output)(
        if (CurrentQuery.id(session).isEmpty) None else new CarriedTimestamp(timestamps).to(below)
      )
  }

  /**
   * What ends at `node`, with its mark. Where no timestamp is left there, one comes along in one more column, which goes again behind the
   * mark.
   *
   * @param work    see [[latency]]
   * @param carried that timestamp, and what ends there with its column
   */
  private def ended(
      id: String,
      node: SparkPlan,
      below: SparkPlan,
      above: List[SparkPlan],
      work: Seq[Attribute]
  )(carried: => Option[(Expression, SparkPlan)]): SparkPlan = {
    val lost = timestamps.of(node).isEmpty && !writtenByHand.contains(id)
    val found = if (lost) carried.filterNot { case (_, wide) => TooWide.is(wide, before = below) } else None
    found.map { case (timestamp, wide) =>
      val mark = RecordE2ELatency(timestamp, work, id)(accumulators.make(id))
      // It is compiled, so the mark is part of its stage: between two of them it would part them.
      val dropping = ProjectExec(node.output, wide)
      dropping.copy(child = insert(mark, node, wide, dropping :: above))
    }.orElse(latency(id, node, work).map(insert(_, node, below, above))).getOrElse(below)
  }

  /** @param above what stands above `node`, nearest first */
  private def marked(node: SparkPlan, above: List[SparkPlan]): SparkPlan = {
    val below = node.mapChildren(marked(_, node :: above))
    val atNode =
      if (markAbove(above).nonEmpty) below
      else sourceReadAt(node, above).flatMap { case (source, leaf) => atSource(source, leaf, node) } match {
        case Some(mark) => insert(mark, node, below, above)
        case None => withOperator(node, below, above)
      }
    operators.flatMap { case (operator, id) => atIntake(operator, id, node) }
      .foldLeft(atNode)((below, mark) => insert(mark, node, below, above))
  }

  /** The end of a stateful operator. */
  private def withOperator(node: SparkPlan, below: SparkPlan, above: List[SparkPlan]): SparkPlan =
    StatefulOperators.operatorEndingAt(node, above)
      .flatMap(operator => operators.collectFirst { case (`operator`, id) => id })
      .fold(below)(ended(_, node, below, above, workOn(node, above))(GroupTimestamp.of(below, timestamps)))

  /**
   * What must be done before the clock is read. Not what a filter may spare: of a row that it drops the query would not have computed a
   * column, and that may fail, as a division does.
   */
  private def workOn(node: SparkPlan, above: List[SparkPlan]): Seq[Attribute] =
    if (above.headOption.exists(_.isInstanceOf[FilterExec])) Nil else node.output

  /**
   * A source's node stands at its leaf, or above the rows that its files have and its table has no more. Where only a stamp says how old
   * records are, it stands right above that.
   */
  private def sourceReadAt(node: SparkPlan, above: List[SparkPlan]): Option[(RecordSource, SparkPlan)] =
    if (StampsAtSources.isAt(node)) sourceUnder(node.children.head).filter { case (_, leaf) =>
      timestamps.of(leaf).isEmpty
    }
    else sources.readBy(node).filterNot(_ => isBelowDeleting(node, above) || isBelowStamp(node, above))

  private def isBelowDeleting(node: SparkPlan, above: List[SparkPlan]): Boolean =
    above.exists(DeletedRows.unapply(_).exists(_ eq node))

  private def isBelowStamp(node: SparkPlan, above: List[SparkPlan]): Boolean = timestamps.of(node).isEmpty &&
    above.find(plan => StampsAtSources.isAt(plan) || !doesNoWork(plan)).exists(StampsAtSources.isAt)

  private def sourceUnder(node: SparkPlan): Option[(RecordSource, SparkPlan)] = node match {
    case ProjectExec(_, child) if doesNoWork(node) => sourceUnder(child)
    case other => sources.readBy(other)
  }

  private def atSource(source: RecordSource, leaf: SparkPlan, node: SparkPlan): Option[RecordExpression] = {
    val id = s"source-${source.ordinal.getOrElse(sourcesSeen)}-${source.name}"
    sourcesSeen += 1
    // A source's rows are complete: no column has to be computed first.
    if (records(NodeRole.Source)) latency(id, node, work = Nil, intake = intakeOf(source, leaf)) else None
  }

  /** The partitions of each scan count. */
  private def intakeOf(source: RecordSource, leaf: SparkPlan): Int = leaf match {
    case scan: FileSourceScanExec => scans(source.ordinal).indexOf(scan.relation.location)
    case _ => 0
  }

  /** The staleness of the rows that an operator takes in, and the lateness of those that it drops. */
  private def atIntake(operator: StateStoreWriter, id: String, node: SparkPlan): Seq[RecordExpression] = {
    val intake = StatefulOperators.intakes(operator).indexWhere(_ eq node)
    if (intake < 0 || isTaken(id, operator)) Nil
    else timestamps.of(node).map { timestamp =>
      val figures = accumulators.make(id, Measure.Staleness, intake)
      RecordE2ELatency(timestamp, node.output, id)(figures)
    }.toSeq ++ StatefulOperators.dropsLate(operator, node).map { case (eventTime, watermark) =>
      val measure = if (lateBySystemTime) Measure.SystemTimeLateness else Measure.Lateness
      val figures = accumulators.make(id, measure, intake, Some(watermark / 1000))
      RecordLateness(eventTime, watermark, id)(figures)
    }
  }

  private def isTaken(id: String, operator: StateStoreWriter): Boolean =
    writtenByHand.contains(id) && !endsByHand.contains(operator)

  /** @param work columns that must have been computed before the clock is read */
  private def latency(
      id: String,
      node: SparkPlan,
      work: Seq[Attribute],
      intake: Int = 0
  ): Option[RecordExpression] =
    if (writtenByHand.contains(id)) {
      leaveOut(id, "a node written by hand has this id")
      None
    } else timestamps.of(node) match {
      case Some(timestamp) =>
        Some(RecordE2ELatency(timestamp, work, id)(accumulators.make(id, intake = intake)))
      case None =>
        val isSource = sources.readBy(node).nonEmpty
        val lost = if (isSource) None else LostTimestamp.below(node, timestamps)
        val remedies = lost.orElse(AutomaticPlacement.watermark(node)) ++
          Option.when(isSource)(AutomaticPlacement.Remedy) ++
          Option.when(id == Sink && isBehindShuffle)(AutomaticPlacement.AcrossShuffles)
        val why =
          s"no column there is known to hold a record timestamp: ${Readable.names(node.output.map(_.name))}" +
            remedies.map("; " + _).mkString
        if (withMarkers.isEmpty) leaveOut(id, why)
        else if (lost.nonEmpty) tell(LeftOut.timestamp(id, why))
        withMarkers.map(RecordE2ELatency(_, work, id)(accumulators.make(id, intake = intake)))
    }

  private def isBehindShuffle: Boolean =
    !settings.autoAcrossShuffles && CurrentQuery.running(session).exists(AcrossShuffles.wouldHelp)

  private def insert(
      record: RecordExpression,
      node: SparkPlan,
      below: SparkPlan,
      above: List[SparkPlan]
  ): SparkPlan = {
    val hasBatches = CurrentQuery.hasBatches(session)
    // A filter does not tell its mark where it stands.
    val mark: Expression = if (!hasBatches && isOfBranch(above)) OfBranch(record) else record
    MarkOperator(
      mark,
      below,
      isCompiled = isCompiled(node) || above.headOption.exists(isCompiled),
      hasBatches
    )
  }

  /** Whether what stands below these becomes part of the code of one branch of a union: all between is one stage. */
  private def isOfBranch(above: List[SparkPlan]): Boolean =
    above.takeWhile(isCompiled).exists(_.isInstanceOf[UnionExec])

  private def leaveOut(id: String, reason: String): Unit = tell(LeftOut.node(id, reason))

  private def tell(text: String): Unit =
    application.leftOut(queryName, CurrentQuery.running(session).map(_.runId.toString), text)

  private def records(role: NodeRole): Boolean =
    settings.auto.contains(role) && level.records(role.level)

  private def endsIn(node: SparkPlan, above: List[SparkPlan]): Seq[(StateStoreWriter, Option[String])] =
    node.children.flatMap(endsIn(_, node :: above)) ++
      StatefulOperators.operatorEndingAt(node, above).map(_ -> markAbove(above))

  /** A mark by hand measures the same, where no work lies between it and this place. */
  private def markAbove(above: List[SparkPlan]): Option[String] =
    above.takeWhile(doesNoWork).flatMap(MarkOperator.idByHand).headOption

  private def isMarkedBelow(node: SparkPlan): Boolean =
    doesNoWork(node) && (isByHand(node) || node.children.exists(isMarkedBelow))

  private def doesNoWork(node: SparkPlan): Boolean = node match {
    case project: ProjectExec => project.projectList.forall {
        case _: Attribute | Alias(_: Attribute | _: ReadingTime, _) => true
        case _ => false
      }
    case _: EventTimeWatermarkExec => true
    case other => isByHand(other)
  }

  private def isByHand(node: SparkPlan): Boolean = MarkOperator.idByHand(node).nonEmpty

  /**
   * The rule of CollapseCodegenStages. If neither neighbour is in a stage of generated code, a mark must not start one. The mode is a
   * text in Spark 4.0.
   */
  private def isCompiled(node: SparkPlan): Boolean = conf.wholeStageEnabled &&
    conf.codegenFactoryMode.toString != CodegenObjectFactoryMode.NO_CODEGEN.toString && isOfStage(node)

  private def isOfStage(node: SparkPlan): Boolean = node match {
    case _: LocalTableScanExec => false // never a stage by itself
    case codegen: CodegenSupport =>
      codegen.supportCodegen && !codegen.expressions.exists(_.exists(_.isInstanceOf[CodegenFallback])) &&
      !(codegen +: codegen.children).exists(plan => WholeStageCodegenExec.isTooManyFields(conf, plan.schema))
    case other => other.supportsColumnar // its rows are made in a stage
  }
}

/** Holds the id of the automatic node at a query's end. */
private object AutomaticPlacement {
  val Sink = "sink"

  /** By a column of event time automatic nodes go, and by no other that is there. */
  private def watermark(node: SparkPlan): Option[String] = {
    val times = node.output.filter(_.dataType == TimestampType).map(_.name)
    val which = if (times.size > 1) "one of " else ""
    Option.when(times.nonEmpty)(s"a watermark on $which${Readable.names(times)} makes it one")
  }

  private val NeverRows =
    "its objects go to the next function before they are rows, and ages are those of rows; " +
      "a node by hand right behind it makes rows of them"
  private val AcrossShuffles = s"${LatencyConf.AutoAcrossShuffles.name}=true takes it there"
  private val Remedy =
    s"with_ingestion_timestamp and ${LatencyConf.AutoIngestion.name} give records one as they are read"
}
