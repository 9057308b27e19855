package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical.CoGroup
import org.apache.spark.sql.catalyst.plans.logical.FlatMapGroupsWithState
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.MapGroups
import org.apache.spark.sql.latency.compat.TransformWithState

/**
 * What a function takes in that is handed all records of a key. Spark shuffles every column that there is for it, also those that its
 * type does not have: column pruning does not know these operators.
 *
 * @param rows    the plan that they come from
 * @param columns that are handed on
 * @param read    that make the function's values and keys, or say in which order they come
 * @param over    gives the function over fewer columns
 */
private final case class FunctionInput(rows: LogicalPlan, columns: Seq[Attribute], read: AttributeSet)(
    val over: (Seq[Attribute], LogicalPlan) => LogicalPlan
)

private object FunctionInput {

  /** None of an operator that is no such function, or whose function is one in Python: that reads all columns. */
  def of(plan: LogicalPlan): Seq[FunctionInput] = plan match {
    case it: MapGroups =>
      val read = it.valueDeserializer.references ++ AttributeSet(it.dataOrder ++ it.groupingAttributes)
      Seq(FunctionInput(it.child, it.dataAttributes, read)((columns, rows) =>
        it.copy(dataAttributes = columns, child = rows)
      ))
    case it: FlatMapGroupsWithState =>
      val read = it.valueDeserializer.references ++ AttributeSet(it.groupingAttributes)
      Seq(FunctionInput(it.child, it.dataAttributes, read)((columns, rows) =>
        it.copy(dataAttributes = columns, child = rows)
      ))
    case it: TransformWithState =>
      val read = it.valueDeserializer.references ++ AttributeSet(it.groupingAttributes)
      Seq(FunctionInput(it.child, it.dataAttributes, read)((columns, rows) =>
        it.copy(dataAttributes = columns, child = rows)
      ))
    case it: CoGroup =>
      val left = it.leftDeserializer.references ++ AttributeSet(it.leftOrder ++ it.leftGroup)
      val right = it.rightDeserializer.references ++ AttributeSet(it.rightOrder ++ it.rightGroup)
      Seq(
        FunctionInput(it.left, it.leftAttr, left)((columns, rows) =>
          it.copy(leftAttr = columns, left = rows)
        ),
        FunctionInput(it.right, it.rightAttr, right)((columns, rows) =>
          it.copy(rightAttr = columns, right = rows)
        )
      )
    case _ => Nil
  }
}
