package org.apache.spark.sql.latency.planning

import io.sparklatency.answer.LeftOut
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.KeptTimestamps
import org.apache.spark.sql.latency.marking.LatencyMark
import org.apache.spark.sql.latency.marking.NoTimestamp
import org.apache.spark.sql.latency.marking.TimestampColumn

/**
 * Takes out the marks that the level of their query excludes, and leaves their timestamps only where the user has asked for that. A
 * mark does not know its query when it is made. It goes in the optimizer's own batch of rules, which then run again without the
 * fence: the plan is that of the query without the mark. The log and the notes of a streaming query tell of it.
 *
 * Runs with the optimizer, in the thread that plans the query. A plan without a mark costs one walk.
 */
private[latency] final case class UnrecordedMarks(
    session: SparkSession,
    applications: MarkedApplication.Finder
) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[LatencyMark])) plan
    else
      try {
        val application = applications.of(session.sparkContext)
        val query = new PlannedQuery(session, application)
        val run = CurrentQuery.running(session).map(_.runId.toString)
        val isKept = LatencyConf(session).forceTimestampSupport
        plan.transformUp {
          case mark: LatencyMark if !query.isRecorded(mark) =>
            if (isKept) KeptTimestamps(mark.timestamp.references.toSeq, mark.child, ofMark = true)
            else {
              if (run.nonEmpty && !NoTimestamp.is(mark.timestamp))
                tell(application, query.name, run, mark)
              mark.child
            }
        }
      } catch {
        case _: LinkageError => plan // whoever plans the marks says so
      }

  /** The query runs as it is planned, whether this can be told or not. */
  private def tell(
      application: MarkedApplication,
      query: String,
      run: Option[String],
      mark: LatencyMark
  ): Unit =
    try {
      val column = TimestampColumn.nameOf(mark.timestamp)
      application.leftOut(query, run, LeftOut.ofLevel(mark.node, mark.level, column), isChosen = true)
    } catch {
      case OurFailure(_) =>
    }
}
