package org.apache.spark.sql.latency.marking

import java.util.Locale

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.ObjectConsumer
import org.apache.spark.sql.catalyst.plans.logical.ObjectProducer
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.plans.logical.Union

/** A step of a plan as its author would call it, and short. Without state, for any thread. */
private[latency] object StepWords {

  /** With the line where the step was written in SQL. */
  def of(step: LogicalPlan): String = {
    val said = step match {
      case Project(columns, _) => projection(columns)
      case aggregate: Aggregate => aggregation(aggregate.groupingExpressions)
      case join: Join => this.join(join.joinType)
      case _: Union => "the union, which has the names of its first input,"
      case _: ObjectProducer | _: ObjectConsumer => Function
      case unknown => other(unknown.nodeName)
    }
    val line = step.origin.line.filter(_ => step.origin.sqlText.exists(_.linesIterator.size > 1))
    said + line.fold("")(line => s" (line $line)")
  }

  def projection(columns: Seq[NamedExpression]): String =
    if (columns.isEmpty) "the projection to no column" else s"the projection to ${names(columns)}"

  def aggregation(keys: Seq[Expression]): String =
    if (keys.isEmpty) "the aggregation of all records" else s"the aggregation by ${names(keys)}"

  def join(kind: JoinType): String = s"the ${kind.sql.toLowerCase(Locale.ROOT)} join"

  val Function = "a function (map, flatMap, mapGroups, …)"

  def other(name: String): String = s"the step ${Readable.name(name)}"

  private val Names = 3

  private def names(columns: Seq[Expression]): String = Readable.names(
    columns.map {
      case named: NamedExpression => named.name
      case other => Readable.cut(other.sql)
    },
    Names
  )
}
