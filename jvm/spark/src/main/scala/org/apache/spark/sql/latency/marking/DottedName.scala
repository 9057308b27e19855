package org.apache.spark.sql.latency.marking

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A name that was asked for without the backticks that it needs, since the name of a column has a dot in it. Without state, for any thread. */
private[marking] object DottedName {

  /** How to write it: the longest beginning of its parts that is a column of `plan` counts. None if there is no such column. */
  def quoted(plan: LogicalPlan, parts: Seq[String], isSame: Resolver): Option[String] =
    (parts.size to 2 by -1).iterator.flatMap { many =>
      val (name, fields) = parts.splitAt(many)
      plan.output.map(_.name).find(isSame(_, name.mkString(".")))
        .map(column => (quoted(column) +: fields).mkString("."))
    }.nextOption()

  /** How to write the name of a column or field within a longer one. */
  def inBackticks(name: String): String = if (name.exists(".`".contains(_))) quoted(name) else name

  private def quoted(name: String): String = s"`${name.replace("`", "``")}`"
}
