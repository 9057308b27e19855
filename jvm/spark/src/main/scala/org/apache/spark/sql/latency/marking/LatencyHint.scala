package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import io.sparklatency.spark.base.RecordTimestamp
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
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
    plan.resolveOperatorsUp(marked)
  }

  private def marked: PartialFunction[LogicalPlan, LogicalPlan] = {
    case UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) && child.resolved =>
      parameters.map(hintParameter) match {
        case Seq(HintText(node)) =>
          Marking.mark(session, child, node, _.resolve(RecordTimestamp.Watermarked), "INFO")
        case Seq(HintText(node), Timestamp(timestamp)) =>
          Marking.mark(session, child, node, timestamp, "INFO")
        case Seq(HintText(node), Timestamp(timestamp), HintText(level)) =>
          Marking.mark(session, child, node, timestamp, level)
        case other => throw new IllegalArgumentException(
            s"$Name(${Readable.cut(other.take(10).map(shown).mkString(", "))}): a node id and a timestamp column are expected; $usage"
          )
      }
  }

  /** Spark has dropped the hint by now. It still stands in the statement that the plan was made of. */
  private def isAskedFor(plan: LogicalPlan): Boolean =
    plan.exists(_.origin.sqlText.exists(text => InText.findFirstIn(text).nonEmpty))

  private def shown(parameter: Any): String = parameter match {
    case expression: Expression => expression.sql
    case other => String.valueOf(other)
  }

  /**
   * A parameter that names a column. The analyzer may already have resolved it, and given a struct's field a name (an Alias).
   */
  private object Timestamp {
    def unapply(parameter: Any): Option[RecordTimestampResolution => Expression] = parameter match {
      case null | Literal(null, _) => Some(_.resolve(RecordTimestamp.Watermarked))
      case HintText(name) => Some(_.resolve(RecordTimestamp.Named(name)))
      case Alias(field, _) => Some(_.resolve(field))
      case expression: Expression if !expression.isInstanceOf[Literal] => Some(_.resolve(expression))
      case _ => None
    }
  }
}
