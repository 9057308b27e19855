package org.apache.spark.sql.latency.planning

import scala.annotation.tailrec

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.command.DataWritingCommandExec
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec
import org.apache.spark.sql.latency.compat.WriteFilesExecBase
import org.apache.spark.sql.latency.compat.WriteToContinuousDataSourceExec

/**
 * A command that writes the rows of the plan below it and returns none. A pattern without state, for any thread. Costs a type
 * test.
 */
private[latency] object WriteCommand {

  def unapply(plan: SparkPlan): Option[SparkPlan] = plan match {
    case write @ (_: V2CommandExec | _: DataWritingCommandExec | _: WriteFilesExecBase |
        _: WriteToContinuousDataSourceExec) => write.children.headOption
    case _ => None
  }

  /** The plan whose rows are written, below all such commands; the plan itself, if nothing is written. */
  @tailrec
  def orAll(plan: SparkPlan): SparkPlan = plan match {
    case WriteCommand(rows) => orAll(rows)
    case rows => rows
  }
}
