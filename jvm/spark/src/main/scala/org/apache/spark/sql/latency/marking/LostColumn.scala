package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project

/**
 * Which step of `plan` lost a column that a node asks for, and what became of it, in words. It looks from the top: of several steps that
 * lost a column of one name the last counts. Only a mistake pays for it, with a walk over the plan. Without state beside the plan; used
 * by the thread that analyzes.
 */
private[marking] final class LostColumn(plan: LogicalPlan, isSame: Resolver) {
  import LostColumn._

  /** Where a column of this name, or a field of a column, was still to be had. None if no step has it. */
  def named(name: Seq[String]): Option[String] = loss(plan, resolved(_, name)).map(became(_, "it"))

  /** The same of a column of an earlier step. */
  def column(asked: Attribute): Option[String] = loss(plan, has(asked.exprId)).map(became(_, "it"))

  /** The same of the column that has a watermark. */
  def watermarked: Option[String] = {
    val stored = StoredColumns.in(plan)
    def watermarkedAt(step: LogicalPlan) = step.output.find(column =>
      column.metadata.contains(EventTimeWatermark.delayKey) && !stored.contains(column)
    ).filter(_ => step.isStreaming)
    loss(plan, watermarkedAt).map { case (step, lost) =>
      s"${became(step -> lost, s"'${Readable.name(lost.name)}'")}, which had one"
    }
  }

  /** Which step made this column of one that holds a timestamp. */
  def madeOf(column: Expression): Option[String] = column match {
    case attribute: Attribute => maker(attribute.exprId).flatMap {
        case (_, earlier: Attribute) => madeOf(earlier)
        case (step, made) => made.references.toSeq match {
            case Seq(one) if TimestampColumn.fits(one.dataType) =>
              val how = if (made.exists(_.isInstanceOf[Cast])) "casts it from" else "makes it of"
              Some(
                s"${StepWords.of(step)} $how the ${TimestampColumn.name(one.dataType)} '${Readable.name(one.name)}'"
              )
            case Seq(one) => madeOf(one)
            case _ => None
          }
      }
    case _ => None
  }

  private def resolved(step: LogicalPlan, name: Seq[String]): Option[Attribute] =
    try step.resolve(name, isSame).flatMap(_.references.headOption)
    catch { case _: AnalysisException => None }

  private def has(id: ExprId)(step: LogicalPlan): Option[Attribute] = step.output.find(_.exprId == id)

  /** What `step` does to a column that its input has. Of what it is renamed to, it is told what became of that. */
  private def became(lost: (LogicalPlan, Attribute), what: String, renames: Int = MostRenames): String = {
    val (step, column) = lost
    val said = StepWords.of(step)
    made(step).collectFirst {
      case renamed @ Alias(same: Attribute, name) if same.exprId == column.exprId =>
        val later = if (renames == 0) None
        else loss(plan, has(renamed.exprId)).filter(_ => has(renamed.exprId)(plan).isEmpty)
        s"$said renames $what to '${Readable.name(name)}'${later.fold("")(", and " + became(_, "that", renames - 1))}"
      case cast @ Alias(Cast(same: Attribute, _, _, _), name) if same.exprId == column.exprId =>
        s"$said casts $what to ${Readable.cut(cast.dataType.sql)}, as '${Readable.name(name)}'"
    }.getOrElse(s"$said drops $what")
  }

  private def maker(id: ExprId): Option[(LogicalPlan, Expression)] =
    plan.collectFirst(Function.unlift[LogicalPlan, (LogicalPlan, Expression)] { step =>
      made(step).collectFirst { case alias: Alias if alias.exprId == id => step -> alias.child }
    })
}

/** The walk, and which columns a step makes. */
private object LostColumn {

  /** A column that is renamed more often than that is not followed to its end. */
  private val MostRenames = 2

  /** The uppermost step that lost a column, and the column as it was below. The plan itself does not have it. */
  private def loss(
      plan: LogicalPlan,
      find: LogicalPlan => Option[Attribute]
  ): Option[(LogicalPlan, Attribute)] =
    plan.children.flatMap(find(_)).headOption.map(plan -> _)
      .orElse(plan.children.iterator.flatMap(loss(_, find)).nextOption())

  private def made(step: LogicalPlan): Seq[NamedExpression] = step match {
    case Project(columns, _) => columns
    case aggregate: Aggregate => aggregate.aggregateExpressions
    case _ => Nil
  }
}
