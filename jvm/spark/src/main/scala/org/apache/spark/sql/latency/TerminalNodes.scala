package org.apache.spark.sql.latency

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.ColumnarRule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.exchange.Exchange

/**
 * Has the last marks on the ways through a plan take what the commit latency is made of. Which they are is known only when the
 * whole is planned. In real-time and continuous mode results can be seen before there is a commit, and nothing is taken.
 *
 * The plan stays as it is, and the marks are told: Spark would not notice a mark that was replaced by one of the same id.
 */
private[latency] final case class TerminalNodes(session: SparkSession) extends ColumnarRule {

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {

    /**
     * An adaptive plan comes by as a whole before it runs, and then stage by stage, planned anew perhaps. Of the stages only the last
     * does not end in an exchange: what is last in another is known from the whole alone.
     */
    override def apply(plan: SparkPlan): SparkPlan = {
      val isWhole = !plan.isInstanceOf[Exchange]
      // Every plan of the session comes by here, and none may fail for it.
      try if (isWhole && Planning.hasCommits(session)) lastMarks(plan).foreach(_.figures.takeAges())
      catch { case NonFatal(_) => } // no commit latency then
      plan
    }
  }

  private def lastMarks(plan: SparkPlan): Seq[RecordE2ELatency] = plan match {
    case Mark(mark: RecordE2ELatency, _) if mark.isOfLatency => Seq(mark)
    case adaptive: AdaptiveSparkPlanExec => lastMarks(adaptive.inputPlan)
    case other => other.children.flatMap(lastMarks)
  }
}
