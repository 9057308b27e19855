package org.apache.spark.sql.latency.marking

import io.sparklatency.spark.base.RecordTimestamp
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF
import org.apache.spark.sql.latency.compat.ColumnNodeToExpressionConverter
import org.apache.spark.sql.latency.compat.SparkSession

/**
 * Finds a node's record timestamp among the columns of `plan`. If there is none, the error names the node, the problem and
 * the remedy.
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
    case RecordTimestamp.Named(name) =>
      resolve(UnresolvedAttribute(UnresolvedAttribute.parseAttributeName(name)))
    case RecordTimestamp.Given(column) => resolve(ColumnNodeToExpressionConverter(column.node))
  }

  def resolve(expression: Expression): Expression = expression match {
    case column: UnresolvedAttribute => asTimestamp(named(column), s"column '${column.name}'")
    case other => asTimestamp(analyzed(other), s"timestamp '${other.sql}'")
  }

  private def watermarked: Expression =
    plan.output.filter(_.metadata.contains(EventTimeWatermark.delayKey)) match {
      case Seq(one) => one
      case Seq() if !plan.isStreaming =>
        fail("no timestamp was given, and a batch query has no watermark", remedy)
      case Seq() => fail("no timestamp was given, and no column here has a watermark", remedy)
      case several =>
        fail(
          s"no timestamp was given, and several columns have a watermark: ${names(several)}",
          "name one of them"
        )
    }

  private def named(column: UnresolvedAttribute): Expression =
    plan.resolve(column.nameParts, session.sessionState.conf.resolver) match {
      case Some(Alias(nested, _)) => nested
      case Some(found) => found
      case None if plan.output.exists(_.name == column.name) =>
        fail(
          s"the name of column '${column.name}' has a dot in it",
          s"write it in backticks: `${column.name}`"
        )
      case None => fail(s"there is no column '${column.name}' among ${names(plan.output)}", remedy)
    }

  /** A resolved expression stays as it is: a hint's plan is part of a query and cannot be analyzed alone. */
  private def analyzed(expression: Expression): Expression =
    if (expression.resolved && isOfTheRow(expression)) expression
    else {
      val project = Project(Seq(Alias(expression, "timestamp")()), plan)
      val resolved =
        try session.sessionState.executePlan(project).analyzed
        catch {
          case e: AnalysisException => fail(s"the timestamp cannot be resolved: ${e.getMessage}", remedy)
        }
      resolved match {
        case Project(Seq(Alias(timestamp, _)), _) if isOfTheRow(timestamp) => timestamp
        case _ =>
          fail(
            s"the timestamp '${expression.sql}' is not a deterministic expression over the columns of the row",
            "compute it in a column of its own and name that"
          )
      }
    }

  private def isOfTheRow(timestamp: Expression): Boolean =
    timestamp.deterministic && timestamp.references.subsetOf(plan.outputSet) &&
      !timestamp.containsAnyPattern(PLAN_EXPRESSION, PYTHON_UDF, CURRENT_LIKE)

  private def asTimestamp(expression: Expression, what: String): Expression =
    TimestampColumn.read(expression, session.sessionState.conf.sessionLocalTimeZone).getOrElse(
      fail(s"$what is of type ${expression.dataType.sql}, and a timestamp or a window is needed", remedy)
    )

  private def remedy: String = plan.output.filter(column => TimestampColumn.fits(column.dataType)) match {
    case Seq() => "no column here holds a timestamp: keep one through the steps before this node"
    case candidates => s"name a timestamp; columns that hold one: ${names(candidates)}"
  }

  private def names(columns: Seq[Attribute]): String = columns.map(c => s"'${c.name}'").mkString(", ")

  private def fail(problem: String, remedy: String): Nothing =
    throw new IllegalArgumentException(s"node '$node': $problem; $remedy")
}
