package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.RecordTimestamp
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.expressions.OuterReference
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.catalyst.plans.logical.WithCTE
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.hintParameter

/**
 * Turns the hint `E2E_LATENCY` into a mark. A wrong hint fails the analysis, in words. Where the session drops all hints, a
 * statement with this one is a warning in the log, once in the session. Runs in the thread that analyzes the
 * statement, on the server under Spark Connect. A plan without the hint costs one walk.
 */
private[latency] final case class LatencyHint(session: SparkSession) extends Rule[LogicalPlan] {
  private val Name = "E2E_LATENCY"
  private val InText = s"(?i)/\\*\\+[^*]*\\b$Name\\b".r
  private val usage = s"use $Name('node'), $Name('node', timestamp) or $Name('node', timestamp, 'level')"

  @volatile private var hasWarned = false

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (!hasWarned && conf.getConf(SQLConf.DISABLE_HINTS) && isAskedFor(plan)) {
      hasWarned = true
      logWarning(
        s"${SQLConf.DISABLE_HINTS.key} is true: Spark drops the hint $Name, and its node is not measured"
      )
    }
    plan.resolveOperatorsUp(marked(new Marked(plan)))
  }

  private def marked(within: Marked): PartialFunction[LogicalPlan, LogicalPlan] = {
    case hint @ UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) && child.resolved =>
      val made = parameters.map(hintParameter) match {
        case Seq(HintText(node)) => within.mark(child, node, _.resolve(RecordTimestamp.Watermarked), "INFO")
        case Seq(HintText(node), Timestamp(timestamp)) => within.mark(child, node, timestamp, "INFO")
        case Seq(HintText(node), Timestamp(timestamp), HintText(level)) =>
          within.mark(child, node, timestamp, level)
        case other => throw new IllegalArgumentException(
            s"$Name(${HintText.shown(other)}): a node id and a timestamp column are expected; $usage"
          )
      }
      if (made eq child) GoneHint.over(child, hint) else made
  }

  /** Marks a SELECT of a statement. */
  private final class Marked(statement: LogicalPlan) {

    /** Of the common table expressions that the SELECT may read. */
    private lazy val definitions: Map[Long, LogicalPlan] = statement.collectWithSubqueries {
      case WithCTE(_, definitions) => definitions.map(of => of.id -> of.child)
    }.flatten.toMap

    def mark(
        child: LogicalPlan,
        node: String,
        timestamp: RecordTimestampResolution => Expression,
        level: String
    ): LogicalPlan = {
      val marked = Marking.mark(session, child, node, timestamp, level, MarkId.ofHint(_, definitions))
      if (marked ne child) refuseCorrelated(child, node)
      marked
    }
  }

  /** Spark makes a join of such a SELECT, and moves what asks for columns from outside past all that it knows, which a mark is not. */
  private def refuseCorrelated(child: LogicalPlan, node: String): Unit =
    child.collect { case step => step.expressions.flatMap(_.collect { case outer: OuterReference => outer }) }
      .flatten.headOption.foreach { outer =>
        val name = Readable.name(outer.qualifiedName)
        throw new IllegalArgumentException(
          s"node '$node': its SELECT reads column '$name' of the query around it, where nothing can be measured; " +
            s"put the hint one SELECT deeper: FROM (SELECT /*+ $Name('$node', …) */ * FROM …)"
        )
      }

  /** Spark has dropped the hint by now. It still stands in the statement that the plan was made of. */
  private def isAskedFor(plan: LogicalPlan): Boolean =
    plan.exists(_.origin.sqlText.exists(text => InText.findFirstIn(text).nonEmpty))

  /**
   * A parameter that names a column. The analyzer may already have resolved it, and given a struct's field a name (an Alias). In a
   * subquery it finds a column of the query around it where its own SELECT has none. The hint means the SELECT's.
   */
  private object Timestamp {
    def unapply(parameter: Any): Option[RecordTimestampResolution => Expression] = parameter match {
      case null | Literal(null, _) => Some(_.resolve(RecordTimestamp.Watermarked))
      case HintText(name) => Some(_.resolve(RecordTimestamp.Named(name)))
      case Alias(field, _) => Some(_.resolve(ofThisSelect(field)))
      case expression: Expression if !expression.isInstanceOf[Literal] =>
        Some(_.resolve(ofThisSelect(expression)))
      case _ => None
    }

    private def ofThisSelect(expression: Expression): Expression = expression match {
      case OuterReference(column) => UnresolvedAttribute(Seq(column.name))
      case field: GetStructField => ofThisSelect(field.child) match {
          case UnresolvedAttribute(struct) => UnresolvedAttribute(struct :+ field.extractFieldName)
          case _ => field
        }
      case other => other.mapChildren(ofThisSelect)
    }
  }
}
