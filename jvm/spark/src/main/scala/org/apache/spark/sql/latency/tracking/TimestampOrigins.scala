package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.latency.marking.TimestampColumn

/**
 * From which columns of sources the timestamps in a plan are made: Kafka's `timestamp` is one, a field of its `value` another. Renames,
 * windows, aggregates and arithmetic on a timestamp leave that as it is.
 *
 * Mutable, for one walk over a plan, from its sources on, by one thread. Keeps references to what columns are made of; nothing is resolved
 * before it is asked for.
 */
private[tracking] final class TimestampOrigins {
  private val madeOf = mutable.Map.empty[ExprId, Seq[Expression]]

  /** The walk has come to an operator, after those below it. */
  def passed(operator: SparkPlan): Unit = operator match {
    case _: InMemoryTableScanExec => // what was cached names its columns anew
    case project: ProjectExec => named(project.projectList)
    case aggregate: BaseAggregateExec =>
      aggregate.aggregateExpressions.foreach(of =>
        madeOf(of.resultAttribute.exprId) = Seq(of.aggregateFunction)
      )
      named(aggregate.resultExpressions)
    case union: UnionExec => columns(union.output, union.children.map(_.output))
    case expand: ExpandExec => columns(expand.output, expand.projections)
    case reused: ReusedExchangeExec => columns(reused.output, Seq(reused.child.output))
    case source if source.children.isEmpty => source.output.foreach(column => madeOf(column.exprId) = Nil)
    case _ => // passes columns on, or nobody knows what it makes of them
  }

  /** Empty where nobody knows. */
  def of(timestamp: Expression): Set[String] = of(timestamp, Nil, Set.empty)

  /** @param fields of the expression, which is a struct then: one within another */
  private def of(expression: Expression, fields: List[String], seen: Set[ExprId]): Set[String] = {
    def all(parts: Seq[Expression]) = parts.flatMap(of(_, fields, seen)).toSet
    expression match {
      case column: Attribute if seen(column.exprId) => Set.empty
      case column: Attribute => madeOf.get(column.exprId) match {
          case Some(Seq()) => Set((column.exprId.id.toString :: fields).mkString("."))
          case Some(parts) => parts.flatMap(of(_, fields, seen + column.exprId)).toSet
          case None => Set.empty
        }
      case field: GetStructField => of(field.child, field.extractFieldName :: fields, seen)
      case struct: CreateNamedStruct if fields.nonEmpty =>
        struct.valExprs.lift(struct.names.map(_.toString).indexOf(fields.head)).fold(Set.empty[String])(of(
          _,
          fields.tail,
          seen
        ))
      case computed =>
        // What else goes into it, a condition say, does not tell when a record happened.
        val (timestamps, others) = computed.children.partition(part => TimestampColumn.fits(part.dataType))
        Some(all(timestamps)).filter(_.nonEmpty).getOrElse(all(others))
    }
  }

  private def named(made: Seq[NamedExpression]): Unit = made.foreach {
    case column: Alias if column.references.isEmpty => madeOf(column.exprId) = Nil
    case column: Alias => madeOf(column.exprId) = Seq(column.child)
    case _ =>
  }

  private def columns(output: Seq[Attribute], ways: Seq[Seq[Expression]]): Unit =
    output.zipWithIndex.foreach { case (column, i) => madeOf(column.exprId) = ways.map(_(i)) }
}
