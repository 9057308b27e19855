package org.apache.spark.sql.latency.marking

import io.sparklatency.answer.Readable
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.latency.compat.SparkSession

/**
 * Gives a plan one more column, an ingestion timestamp. A name that will not do fails here, at the call. Runs in the user's thread.
 */
private[latency] object Stamping {

  /** `child` with the column `name` behind all others. */
  def stamp(session: SparkSession, child: LogicalPlan, name: String): LogicalPlan = {
    if (name == null || name.trim.isEmpty)
      throw new IllegalArgumentException(
        "the column of an ingestion timestamp needs a name; the usual one is " +
          s"'${IngestionTime.Name}'"
      )
    val isSame = session.sessionState.conf.resolver
    child.output.find(column => isSame(column.name, name)).foreach(column =>
      throw new IllegalArgumentException(
        s"there is a column '${Readable.name(column.name)}' already; give the ingestion timestamp another name"
      )
    )
    Project(child.output :+ Alias(IngestionTime(), name)(), child)
  }
}
