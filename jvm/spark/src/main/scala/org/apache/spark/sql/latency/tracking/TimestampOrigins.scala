package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.GetStructField
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.execution.ExpandExec
import org.apache.spark.sql.execution.GenerateExec
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.latency.marking.TimestampColumn
import org.apache.spark.sql.latency.planning.UserFunction
import org.apache.spark.sql.types.ObjectType

/**
 * From which columns of sources the timestamps in a plan are made: Kafka's `timestamp` is one, a field of its `value` another. Renames,
 * windows, aggregates and arithmetic on a timestamp leave that as it is. Behind a function of the user's what has the name and type of a
 * timestamp that went in is taken for it, as by automatic nodes.
 *
 * Mutable, for one walk over a plan, from its sources on, by one thread. Keeps references to what columns are made of; nothing is resolved
 * before it is asked for.
 */
private[tracking] final class TimestampOrigins {
  import TimestampOrigins._

  private val madeOf = mutable.Map.empty[ExprId, Seq[Expression]] // that of a source is made of itself
  private val sources = mutable.Map.empty[ExprId, ExprId] // its first column, by each of its columns

  /** For one timestamp. A step may read a column twice: without this there would be a way back for each sequence of steps. */
  private val found = mutable.Map.empty[(ExprId, List[String]), Set[Origin]]

  /** The walk has come to an operator, after those below it. */
  def passed(operator: SparkPlan): Unit = operator match {
    case project: ProjectExec => named(project.projectList)
    case aggregate: BaseAggregateExec =>
      aggregate.aggregateExpressions.foreach(of => made(of.resultAttribute, Seq(of.aggregateFunction)))
      named(aggregate.resultExpressions)
    case union: UnionExec => columns(union.output, union.children.map(_.output))
    case expand: ExpandExec => columns(expand.output, expand.projections)
    case reused: ReusedExchangeExec => columns(reused.output, Seq(reused.child.output))
    case explosion: GenerateExec =>
      explosion.generatorOutput.foreach(made(_, explosion.generator.children))
    case function @ UserFunction(out) =>
      val wentIn = rowsBelow(function)
      out.filter(column => TimestampColumn.fits(column.dataType)).foreach(column =>
        made(column, wentIn.filter(of => of.name == column.name && of.dataType == column.dataType))
      )
    case source if source.children.isEmpty =>
      source.output.foreach { column =>
        madeOf(column.exprId) = Seq(column)
        sources(column.exprId) = source.output.head.exprId
      }
    case _ => // passes columns on, or nobody knows what it makes of them
  }

  /** Empty where nobody knows. */
  def of(timestamp: Expression): Set[Origin] = {
    found.clear() // the walk has gone on
    of(timestamp, Nil, Set.empty)
  }

  /**
   * Whether some have nothing to do with others: all of them, or those of one source, as where two topics are united and one of them goes by
   * another timestamp than before. Not where nobody knows of either.
   */
  def areApart(some: Set[Origin], others: Set[Origin]): Boolean = {
    val theirs = others.groupBy(sourceOf)
    val pairs = some.groupBy(sourceOf).toSeq.flatMap { case (source, one) =>
      theirs.get(source).map(one -> _)
    }
    if (pairs.isEmpty) some.nonEmpty && others.nonEmpty
    else pairs.exists { case (one, other) => !one.exists(origin => other.exists(origin.overlaps)) }
  }

  private def sourceOf(origin: Origin): ExprId = sources.getOrElse(origin.column, origin.column)

  /** @param fields of the expression, which is a struct then: one within another */
  private def of(expression: Expression, fields: List[String], seen: Set[ExprId]): Set[Origin] =
    expression match {
      case column: Attribute if !seen(column.exprId) =>
        val place = column.exprId -> fields
        if (!found.contains(place)) found(place) = look(column, fields, seen)
        found(place)
      case other => look(other, fields, seen)
    }

  private def look(expression: Expression, fields: List[String], seen: Set[ExprId]): Set[Origin] = {
    def all(parts: Seq[Expression]) = parts.flatMap(of(_, fields, seen)).toSet
    expression match {
      case column: Attribute if seen(column.exprId) => Set.empty
      case column: Attribute => madeOf.getOrElse(column.exprId, Nil).flatMap {
          case same: Attribute if same.exprId == column.exprId => Set(Origin(column.exprId, fields))
          case part => of(part, fields, seen + column.exprId)
        }.toSet
      case field: GetStructField => of(field.child, field.extractFieldName :: fields, seen)
      case struct: CreateNamedStruct if fields.nonEmpty =>
        struct.valExprs.lift(struct.names.map(_.toString).indexOf(fields.head)).fold(Set.empty[Origin])(of(
          _,
          fields.tail,
          seen
        ))
      case cast: Cast if fields.nonEmpty => of(cast.child, Nil, seen) // it may name fields anew
      case computed =>
        // What else goes into it, a condition say, does not tell when a record happened.
        val (timestamps, others) = computed.children.partition(part => TimestampColumn.fits(part.dataType))
        Some(all(timestamps)).filter(_.nonEmpty).getOrElse(all(others))
    }
  }

  private def named(columns: Seq[NamedExpression]): Unit = columns.foreach {
    case column: Alias if column.references.isEmpty => madeOf(column.exprId) = Seq(column.toAttribute)
    case column: Alias => made(column.toAttribute, Seq(column.child))
    case _ =>
  }

  /** What a function has made its objects of. */
  private def rowsBelow(function: SparkPlan): Seq[Attribute] = function.children.flatMap { child =>
    if (child.output.exists(_.dataType.isInstanceOf[ObjectType])) rowsBelow(child) else child.output
  }

  private def columns(output: Seq[Attribute], ways: Seq[Seq[Expression]]): Unit =
    output.zipWithIndex.foreach { case (column, i) => made(column, ways.map(_(i))) }

  /** A part may be the column itself, as it was below: a union has the columns of its first side. */
  private def made(column: Attribute, of: Seq[Expression]): Unit = madeOf(column.exprId) = of.flatMap {
    case same: Attribute if same.exprId == column.exprId => madeOf.getOrElse(same.exprId, Nil)
    case other => Seq(other)
  }
}

private[tracking] object TimestampOrigins {

  /** @param fields of the column, one within another; none where it is not a struct, or nobody knows which of its fields it is */
  final case class Origin(column: ExprId, fields: List[String]) {

    /** A part of a text or struct may be told in two ways: of one of them, only that it comes from there. */
    def overlaps(other: Origin): Boolean =
      column == other.column && (fields.startsWith(other.fields) || other.fields.startsWith(fields))
  }
}
