package org.apache.spark.sql.latency.marking

import scala.util.Try

import io.sparklatency.answer.Readable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType

/** A column that can have a watermark. Immutable; found in the user's thread or by an analyzer. */
private[latency] final case class WatermarkedColumn(attribute: Attribute)

private[latency] object WatermarkedColumn {

  /**
   * The column of this name in `plan`.
   *
   * @throws IllegalArgumentException if there is none, if its type will not do, or if `plan` has a watermark already
   */
  def of(plan: LogicalPlan, name: String, conf: SQLConf): WatermarkedColumn = {
    val attribute = find(plan, name, conf)
    if (!fits(attribute.dataType)) {
      val how = TimestampColumn.howToMake(attribute.dataType).getOrElse("cast the column first")
      fail(name, s"is of type ${attribute.dataType.sql}", s"a watermark needs a TIMESTAMP or a window: $how")
    }
    plan.collectFirst { case earlier: EventTimeWatermark if plan.isStreaming => earlier }.foreach { earlier =>
      fail(
        name,
        s"would be the second watermark on this path: there is one on '${Readable.name(earlier.eventTime.name)}'",
        "leave one of them out; inputs of a join or union can each have their own, before they meet"
      )
    }
    WatermarkedColumn(attribute)
  }

  private def find(plan: LogicalPlan, name: String, conf: SQLConf): Attribute = {
    if (name == null) throw new IllegalArgumentException(
      "a system-time watermark needs the name of a column that says when an event happened"
    )
    val found =
      try plan.resolve(UnresolvedAttribute.parseAttributeName(name), conf.resolver)
      catch {
        case _: AnalysisException =>
          failDotted(plan, name, conf)
          fail(name, "cannot be told from others, or is not well quoted", columns(plan, name))
      }
    found match {
      case Some(attribute: Attribute) => attribute
      case Some(_) => fail(name, "lies within a struct", "make it a column of its own first")
      case None =>
        failDotted(plan, name, conf)
        fail(name, "is not there", columns(plan, name))
    }
  }

  private def failDotted(plan: LogicalPlan, name: String, conf: SQLConf): Unit =
    Try(UnresolvedAttribute.parseAttributeName(name)).toOption
      .flatMap(DottedName.quoted(plan, _, conf.resolver))
      .foreach(quoted =>
        fail(name, "has a dot in its name", s"write it in backticks: ${Readable.name(quoted)}")
      )

  /** What Spark's own check lets pass. */
  private def fits(dataType: DataType): Boolean = dataType match {
    case TimestampType => true
    case window: StructType => window.exists(field => field.name == "end" && field.dataType == TimestampType)
    case _ => false
  }

  private def columns(plan: LogicalPlan, asked: String): String =
    s"the columns are ${Readable.names(plan.output.map(_.name), Some(asked))}"

  private def fail(name: String, problem: String, remedy: String): Nothing =
    throw new IllegalArgumentException(
      s"system-time watermark: the column '${Readable.name(name)}' $problem; $remedy"
    )
}
