package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.plans.logical.Union
import org.apache.spark.sql.latency.marking.IngestionStamp
import org.apache.spark.sql.latency.marking.IngestionTime

/** Which columns of a plan's output are ingestion timestamps, under whatever names. Costs a walk over the plan. Without state. */
private object StampColumns {
  def of(plan: LogicalPlan): AttributeSet = plan match {
    case IngestionStamp(stamp, child) => of(child) + stamp
    case Project(columns, child) =>
      val below = of(child)
      AttributeSet(columns.collect {
        case same: Attribute if below.contains(same) => same
        case made @ Alias(_: IngestionTime, _) => made.toAttribute
        case renamed @ Alias(same: Attribute, _) if below.contains(same) => renamed.toAttribute
      })
    case union: Union => onAllSides(union, of)
    case other => AttributeSet(other.children.flatMap(of).filter(other.outputSet.contains))
  }

  /** The columns of a union that are of a kind on each of its sides. */
  def onAllSides(union: Union, ofKind: LogicalPlan => AttributeSet): AttributeSet = {
    val sides = union.children.map(side => side.output -> ofKind(side))
    AttributeSet(union.output.zipWithIndex.collect {
      case (column, i) if sides.forall { case (columns, found) => found.contains(columns(i)) } => column
    })
  }
}
