package org.apache.spark.sql.latency

import scala.annotation.tailrec

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.command.DataWritingCommandExec
import org.apache.spark.sql.execution.datasources.WriteFilesExecBase
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec
import org.apache.spark.sql.execution.streaming.continuous.WriteToContinuousDataSourceExec

/** A command that writes what the plan below it gives, and gives nothing itself. */
private[latency] object Written {

  def unapply(plan: SparkPlan): Option[SparkPlan] = plan match {
    case write @ (_: V2CommandExec | _: DataWritingCommandExec | _: WriteFilesExecBase |
        _: WriteToContinuousDataSourceExec) => write.children.headOption
    case _ => None
  }

  @tailrec
  def orAll(plan: SparkPlan): SparkPlan = plan match {
    case Written(rows) => orAll(rows)
    case rows => rows
  }
}
