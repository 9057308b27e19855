package org.apache.spark.sql.latency.marking

import scala.util.Try

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.RecordTimestamp
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.catalyst.expressions.TryEval
import org.apache.spark.sql.catalyst.plans.logical.AnalysisHelper
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.catalyst.trees.TreePattern.OUTER_REFERENCE
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.conditionOf
import org.apache.spark.sql.latency.compat.expressionOf
import org.apache.spark.sql.types.TimestampNTZType

/**
 * Finds a node's record timestamp among the columns of `plan`. If there is none, the error names the node, the problem and
 * the remedy. It stays short, however long names are and however many columns there are.
 *
 * A column costs a look-up by name, an expression that is not resolved yet one more analysis. Runs where a mark is made: in
 * the user's thread, or in the thread that analyzes a hint.
 */
private[latency] final class RecordTimestampResolution(
    session: SparkSession,
    plan: LogicalPlan,
    node: String
) {

  /** An expression of TIMESTAMP type over the output of `plan`. */
  def resolve(timestamp: RecordTimestamp): Expression = timestamp match {
    case RecordTimestamp.Watermarked => asTimestamp(watermarked, "the watermarked column")
    case RecordTimestamp.Named(name) => resolve(UnresolvedAttribute(parsed(name)))
    case RecordTimestamp.Given(column) => resolve(expressionOf(column))
  }

  def resolve(expression: Expression): Expression = expression match {
    case column: UnresolvedAttribute if column.getTagValue(LogicalPlan.PLAN_ID_TAG).isEmpty =>
      asTimestamp(named(column), s"column '${Readable.name(column.name)}'", Some(column.name))
    case other => asTimestamp(analyzed(other), s"timestamp '${Readable.cut(other.sql)}'")
  }

  private def parsed(name: String): Seq[String] =
    try UnresolvedAttribute.parseAttributeName(name)
    catch {
      case _: AnalysisException => fail(
          s"'${Readable.name(name)}' cannot be read as the name of a column",
          "a dot leads into a struct; a name that has a dot in it stands between two backticks"
        )
    }

  private lazy val lost = new LostColumn(plan, session.sessionState.conf.resolver)

  private def watermarked: Expression = {
    val stored = StoredColumns.in(plan)
    plan.output.filter(column =>
      column.metadata.contains(EventTimeWatermark.delayKey) && !stored.contains(column)
    ) match {
      case Seq(one) => one
      case Seq() if withMarkers.nonEmpty => withMarkers.get
      case Seq() if !plan.isStreaming =>
        fail("no timestamp was given, and a batch query has no watermark", remedy())
      case Seq() =>
        fail(s"no timestamp was given, and no column here has a watermark${and(lost.watermarked)}", remedy())
      case several =>
        fail(
          s"no timestamp was given, and several columns have a watermark: ${names(several, None)}",
          "name one of them"
        )
    }
  }

  /** Markers need no timestamp. */
  private lazy val withMarkers = NoTimestamp.in(session).filter(_ => plan.isStreaming)

  private def named(column: UnresolvedAttribute): Expression = {
    val name = Readable.name(column.name)
    lookUp(column) match {
      case Some(Alias(nested, _)) => nested
      case Some(found) => found
      case None =>
        failDotted(column)
        fail(
          s"there is no column '$name' among ${names(plan.output, Some(column.name))}${and(lost.named(column.nameParts))}",
          remedy(Some(column.name))
        )
    }
  }

  private def failDotted(column: UnresolvedAttribute): Unit =
    DottedName.quoted(plan, column.nameParts, session.sessionState.conf.resolver).foreach { quoted =>
      fail(
        s"the name of column '${Readable.name(column.name)}' has a dot in it",
        s"write it in backticks: ${Readable.name(quoted)}"
      )
    }

  private def isThere(column: UnresolvedAttribute): Boolean =
    Try(plan.resolve(column.nameParts, session.sessionState.conf.resolver)).toOption.flatten.nonEmpty

  private def lookUp(column: UnresolvedAttribute): Option[Expression] =
    try plan.resolve(column.nameParts, session.sessionState.conf.resolver)
    catch {
      case e: AnalysisException =>
        val name = Readable.name(column.name)
        if (conditionOf(e).exists(_.startsWith("AMBIGUOUS")))
          fail(s"there are several columns '$name'", "rename all but one, or give the one as a Column")
        failDotted(column)
        fail(s"column '$name' cannot be read: ${words(e)}", remedy(Some(column.name)))
    }

  /** A resolved expression stays as it is: a hint's plan is part of a query and cannot be analyzed alone. */
  private def analyzed(expression: Expression): Expression =
    if (expression.resolved && isOfTheRow(expression)) expression
    else {
      val project = Project(Seq(Alias(expression, "timestamp")()), alone)
      val resolved =
        try session.sessionState.executePlan(project).analyzed
        catch {
          case e: AnalysisException => failUnresolved(expression, e)
        }
      resolved match {
        case Project(Seq(Alias(timestamp, _)), _) if isOfTheRow(timestamp) => timestamp
        case _ =>
          fail(
            s"the timestamp '${Readable.cut(expression.sql)}' is not a deterministic expression over the columns of the row",
            "compute it in a column of its own and name that"
          )
      }
    }

  /**
   * The plan as one that Spark can analyze by itself. A hint's SELECT may read a common table expression, also in a condition. That is defined
   * in the query around it, and Spark fails where it does not find the definition.
   */
  private def alone: LogicalPlan = AnalysisHelper.allowInvokingTransformsInAnalyzer {
    plan.transformWithSubqueries { case read: CTERelationRef =>
      LocalRelation(read.output, Nil, isStreaming = read.isStreaming)
    }
  }

  /** Spark's own words would hold two plans where a column is another DataFrame's. */
  private def failUnresolved(expression: Expression, e: AnalysisException): Nothing =
    expression.collectFirst {
      case stranger: Attribute if stranger.resolved && !plan.outputSet.contains(stranger) => stranger
    } match {
      case Some(stranger) =>
        val name = Readable.name(stranger.name)
        val problem = lost.column(stranger).fold(s"column '$name' is of another DataFrame")(became =>
          s"column '$name' is no longer here; $became"
        )
        fail(problem, remedy(Some(stranger.name)))
      case None =>
        expression.foreach {
          case column: UnresolvedAttribute if !isThere(column) => failDotted(column)
          case _ =>
        }
        val missing = expression.collectFirst(Function.unlift[Expression, String] {
          case column: UnresolvedAttribute => lost.named(column.nameParts)
          case _ => None
        })
        fail(s"the timestamp cannot be resolved: ${words(e)}${and(missing)}", remedy())
    }

  private def and(became: Option[String]): String = became.fold("")("; " + _)

  /** What Spark says, without the plan that it may add. */
  private def words(e: AnalysisException): String = Readable.cut(e.getSimpleMessage)

  private def isOfTheRow(timestamp: Expression): Boolean =
    timestamp.deterministic && timestamp.references.subsetOf(plan.outputSet) &&
      !timestamp.containsAnyPattern(PLAN_EXPRESSION, PYTHON_UDF, CURRENT_LIKE, OUTER_REFERENCE)

  private def asTimestamp(expression: Expression, what: String, asked: Option[String] = None): Expression =
    TimestampColumn.read(
      expression,
      session.sessionState.conf.sessionLocalTimeZone
    ).map(unfailing).getOrElse {
      val found = Readable.cut(expression.dataType.sql)
      val why = lost.madeOf(expression).orElse(TimestampColumn.howToMake(expression.dataType))
      fail(s"$what is of type $found, and a timestamp or a window is needed${and(why)}", remedy(asked))
    }

  /**
   * A text that is no time would fail a task, where Spark's casts are strict. It is none of the query's work, so a record of which it
   * cannot be computed is one without a timestamp.
   */
  private def unfailing(timestamp: Expression): Expression = {
    val mayFail = timestamp.exists {
      case _: Attribute | _: GetStructField => false
      case cast: Cast => cast.child.dataType != TimestampNTZType
      case _ => true
    }
    if (mayFail) TryEval(timestamp) else timestamp
  }

  /** @param asked the column that was asked for */
  private def remedy(asked: Option[String] = None): String =
    TimestampColumn.namesOf(plan.schema.fields.toSeq) match {
      case Seq() =>
        "no column here holds a timestamp: keep one through the steps before this node, or give records one as " +
          "they are read: with_ingestion_timestamp, withIngestionTimestamp or ingestion_time()"
      case candidates => s"name a timestamp; columns that hold one: ${Readable.names(candidates, asked)}"
    }

  private def names(columns: Seq[Attribute], asked: Option[String]): String =
    Readable.names(columns.map(_.name), asked)

  private def fail(problem: String, remedy: String): Nothing =
    throw new IllegalArgumentException(s"node '$node': $problem; $remedy")
}
