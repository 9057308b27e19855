package org.apache.spark.sql.latency

import io.sparklatency.spark.RecordTimestamp
import io.sparklatency.spark.Version
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.SparkSessionExtensionsProvider
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedHint
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StringType

/**
 * What a session gains: the hint `E2E_LATENCY('node' [, timestamp [, level]])` (a NULL timestamp is the watermarked column), the
 * plan of a mark, the check that node ids are unique, automatic nodes, the table `e2e_latency()` of figures, and
 * `e2e_latency_version()`, by which a client finds out that all this is there. Found through `META-INF/services` by every session whose class path has the jar, so that no
 * configuration is needed.
 */
final class LatencyExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(session => ResolveLatencyHint(session.asInstanceOf[SparkSession]))
    extensions.injectCheckRule(_ => UniqueNodeIds)
    extensions.injectPlannerStrategy(_ => E2ELatencyStrategy)
    extensions.injectColumnar(session => AutomaticNodes(session.asInstanceOf[SparkSession]))
    extensions.injectColumnar(session => TerminalNodes(session.asInstanceOf[SparkSession]))
    extensions.injectFunction((
      FunctionIdentifier("e2e_latency_version"),
      new ExpressionInfo(classOf[LatencyExtensions].getName, "e2e_latency_version"),
      (_: Seq[Expression]) => Literal(Version.current)
    ))
    extensions.injectTableFunction((
      LatencyTable.name,
      new ExpressionInfo(LatencyTable.getClass.getName, LatencyTable.name.funcName),
      LatencyTable(_)
    ))
  }
}

/** Turns the hint into a mark. */
private final case class ResolveLatencyHint(session: SparkSession) extends Rule[LogicalPlan] {
  private val Name = "E2E_LATENCY"
  private val usage = s"use $Name('node'), $Name('node', timestamp) or $Name('node', timestamp, 'level')"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedHint(name, parameters, child) if name.equalsIgnoreCase(Name) && child.resolved =>
      parameters match {
        case Seq(Text(node)) =>
          LatencyMarks.mark(session, child, node, _.resolve(RecordTimestamp.Watermarked), "INFO")
        case Seq(Text(node), Timestamp(timestamp)) =>
          LatencyMarks.mark(session, child, node, timestamp, "INFO")
        case Seq(Text(node), Timestamp(timestamp), Text(level)) =>
          LatencyMarks.mark(session, child, node, timestamp, level)
        case other => throw new IllegalArgumentException(
            s"$Name(${other.map(shown).mkString(", ")}): a node id and a timestamp column are expected; $usage"
          )
      }
  }

  private def shown(parameter: Any): String = parameter match {
    case expression: Expression => expression.sql
    case other => String.valueOf(other)
  }

  private object Text {
    def unapply(parameter: Any): Option[String] = parameter match {
      case text: String => Some(text)
      case Literal(value, StringType) if value != null => Some(value.toString)
      case _ => None
    }
  }

  /** By the time the hint is seen, the analyzer may have found the column, and have given a field of a struct a name. */
  private object Timestamp {
    def unapply(parameter: Any): Option[RecordTimestampResolution => Expression] = parameter match {
      case null | Literal(null, _) => Some(_.resolve(RecordTimestamp.Watermarked))
      case Text(name) => Some(_.resolve(RecordTimestamp.Named(name)))
      case Alias(field, _) => Some(_.resolve(field))
      case expression: Expression if !expression.isInstanceOf[Literal] => Some(_.resolve(expression))
      case _ => None
    }
  }
}

/** Two marks of one id would write into one figure. The same mark twice, as in a self-join, is no mistake. */
private object UniqueNodeIds extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = {
    val marks = plan.collectWithSubqueries { case mark: E2ELatency => mark.node -> mark.markId }.distinct
    marks.groupBy { case (node, _) => node }.collectFirst { case (node, several) if several.size > 1 => node }
      .foreach(node => throw LatencyMarks.duplicate(node))
  }
}
