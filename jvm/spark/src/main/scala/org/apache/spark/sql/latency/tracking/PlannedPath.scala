package org.apache.spark.sql.latency.tracking

import io.sparklatency.figures.Granularity
import io.sparklatency.figures.MarkPlace
import io.sparklatency.figures.Measure
import io.sparklatency.figures.PlannedNode
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.planning.HarmlessRule
import org.apache.spark.sql.latency.planning.MarkedApplication

/**
 * Tells of each plan that is about to run, before a record comes, which way records take through its marks. Where tasks are shown one
 * by one it also tells the marks in which of its stretches they stand, so that a task that still runs goes by the name that it has
 * when it has ended.
 *
 * An adaptive plan comes here as a whole before it runs, and then stage by stage. A mark that only the plan of its stage has,
 * because the rest was planned anew or because it is automatic, is numbered by the stretches that its stage reads from.
 *
 * Runs in the planning thread, for every plan of the session, and never fails one. The plan does not change. Costs one walk over
 * the plan.
 */
private[latency] final case class PlannedPath(session: SparkSession, finder: MarkedApplication.Finder)
    extends HarmlessRule {
  private lazy val hasTasks =
    LatencyConf(session.sparkContext.getConf).figures.granularity == Granularity.Subtask

  /** If it fails the way shows when the batch has ended. */
  override protected def applied(plan: SparkPlan): SparkPlan = {
    tell(plan, ExecutedMarks.of(plan).filter(_.measure == Measure.E2ELatency))
    plan
  }

  private def tell(plan: SparkPlan, marks: Seq[ExecutedMark]): Unit = if (marks.nonEmpty) {
    val markers = LatencyConf(session).markers
    val application = finder.of(session.sparkContext)
    execution.foreach(application.planned(plan, _))
    application.planned(
      marks.map(mark =>
        PlannedNode(
          mark.figures.owner,
          mark.upstream,
          mark.figures.id,
          mark.timestamp,
          markers,
          mark.aside,
          mark.figures.hasBatches
        )
      )
    )
    if (hasTasks) marks.foreach { mark =>
      val isPassedOn = marks.exists(m => m.subtopology == mark.subtopology && m.upstream(mark.node))
      mark.figures.placed(MarkPlace(mark.subtopology, isLast = !isPassedOn))
    }
  }

  /** That of this thread. A thread that was begun within one keeps its number, also when it has ended. */
  private def execution: Option[Long] =
    Option(session.sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)).map(_.toLong)
      .filter(SQLExecution.getQueryExecution(_) != null)
}
