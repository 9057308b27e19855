package org.apache.spark.sql.latency.planning

import io.sparklatency.answer.LeftOut
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.marking.IngestionTime

/**
 * Tells which ingestion timestamps of a streaming query nothing reads: those that its author asked for, and that are not in the plan of a
 * batch which reads all sources below them. A source without data says nothing: Spark may leave out all that stands above it.
 *
 * The plan itself does not change. Runs in the planning thread, for every plan of the session, and never fails one. Costs one walk over a
 * query's logical plan, and another over the plan of a batch where records are stamped.
 */
private[latency] final case class LeftOutStamps(session: SparkSession, applications: MarkedApplication.Finder)
    extends HarmlessRule {

  /** If it fails the log says less. */
  override protected def applied(plan: SparkPlan): SparkPlan = {
    CurrentQuery.planned(session).foreach(tell(_, whole(plan)))
    plan
  }

  /** An adaptive plan comes here as a whole, and then stage by stage. A stage says nothing. */
  private def whole(plan: SparkPlan): Option[SparkPlan] = plan match {
    case adaptive: AdaptiveSparkPlanExec => Some(adaptive.inputPlan)
    case stage if AdaptiveStage.isPartOfPlan(stage) => None
    case other => other.children match {
        case Seq(adaptive: AdaptiveSparkPlanExec) => Some(adaptive.inputPlan)
        case _ => Some(other)
      }
  }

  private def tell(query: StreamExecution, plan: Option[SparkPlan]): Unit = {
    val asked = query.logicalPlan.collect(Function.unlift(stamp))
    for (plan <- plan if asked.nonEmpty) {
      val sources = new StreamingQuerySources(Some(query))
      def read(part: SparkPlan): Set[Int] = part.collectLeaves().filterNot(_.isInstanceOf[LocalTableScanExec])
        .flatMap(sources.of(_)).flatMap(_.ordinal).toSet
      val stamped = plan.collect { case made if StampsAtSources.isAt(made) => read(made) }.toSet
      for {
        (column, step) <- asked
        below = sources.ordinalsIn(step)
        if below.nonEmpty && below.subsetOf(read(plan)) && !stamped.exists(_.subsetOf(below))
      } leftOut(query, column)
    }
  }

  private def stamp(step: LogicalPlan): Option[(String, LogicalPlan)] = step match {
    case Project(columns, _) => columns.collectFirst { case stamp @ Alias(_: IngestionTime, _) =>
        stamp.name -> step
      }
    case _ => None
  }

  private def leftOut(query: StreamExecution, column: String): Unit = {
    val application = applications.of(session.sparkContext)
    application.leftOut(application.nameOf(query), Some(query.runId.toString), LeftOut.stamp(column))
  }
}
