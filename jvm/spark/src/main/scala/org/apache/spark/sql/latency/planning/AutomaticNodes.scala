package org.apache.spark.sql.latency.planning

import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.NodeRole
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.compat.SparkSession

/**
 * Marks streaming queries automatically, where `spark.sparklatency.auto` says so: at sources, at the end, above each operator
 * that keeps state. With `spark.sparklatency.auto.batch` it marks batch queries too.
 *
 * The marks go into the physical plan, after optimizer and planner, and before Spark builds stages of generated code. So pushed
 * filters, pruned columns, joins, shuffles and stages stay as they are without marks. A timestamp that a streaming query drops comes along
 * to its end ([[CarriedTimestamp]]). If none is left at a place, the place is left out, and the reason is logged once.
 *
 * Runs in the thread that plans a query, for every plan of the session. If it fails, the plan stays unmarked. Without the
 * setting it costs one look at the configuration.
 */
private[latency] final case class AutomaticNodes(
    session: SparkSession,
    applications: MarkedApplication.Finder
) extends HarmlessRule {

  private def settings = LatencyConf(session)
  private def application = applications.of(session.sparkContext)

  /** Spark passes an adaptive plan here as a whole and again stage by stage. The stages are marked. */
  override protected def applied(plan: SparkPlan): SparkPlan =
    if (settings.auto.isEmpty || plan.exists(_.isInstanceOf[AdaptiveSparkPlanExec])) plan
    else {
      val query = CurrentQuery.running(session)
      val sources = new StreamingQuerySources(CurrentQuery.planned(session), isOfBatch)
      if (StatefulOperators.isStateful(plan) || sources.areIn(plan))
        new AutomaticPlacement(session, plan, sources, application).marked
      else if (query.isEmpty && settings.autoBatch) execution.fold(plan)(markedBatch(plan, _))
      else plan
    }

  /** What has failed may also be what tells. */
  override protected def failed(failure: Throwable): Unit = {
    val what = "not marked automatically"
    try tellOnce(s"$what: $failure")
    catch { case OurFailure(_) => PlanningFailure.tellOnce(what, failure) }
  }

  private def tellOnce(problem: String): Unit =
    application.tellOnce(new PlannedQuery(session, application).name, problem)

  /** The plan of a micro-batch is made before its execution begins, and what of it is planned anew within that. */
  private def isOfBatch: Boolean = execution.forall(_.isInstanceOf[IncrementalExecution])

  private def markedBatch(plan: SparkPlan, execution: QueryExecution): SparkPlan = {
    val sources = new BatchQuerySources(execution)
    for (source <- sources.withoutTimestamp(plan) if settings.auto.contains(NodeRole.Source))
      tellOnce(
        s"reads of $source are left out: they have no record timestamp of their own; mark them by hand, by a column or by with_ingestion_timestamp"
      )
    if (sources.areIn(plan)) new AutomaticPlacement(session, plan, sources, application).marked else plan
  }

  /** The execution of this thread. A plan made outside an execution may only be cached or shown. */
  private def execution: Option[QueryExecution] =
    Option(session.sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY))
      .flatMap(id => Option(SQLExecution.getQueryExecution(id.toLong)))
}
