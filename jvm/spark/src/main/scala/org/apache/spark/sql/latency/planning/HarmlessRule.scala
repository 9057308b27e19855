package org.apache.spark.sql.latency.planning

import scala.annotation.unused

import io.sparklatency.spark.base.OurFailure
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.ColumnarRule
import org.apache.spark.sql.execution.SparkPlan

/**
 * A rule of ours over physical plans, before Spark builds stages of generated code. Every plan of the session passes it, and none may fail
 * because of us: what goes wrong in it leaves the plan as it is. Runs in the planning thread.
 */
private[latency] abstract class HarmlessRule extends ColumnarRule {

  /** The plan with which it goes on. */
  protected def applied(plan: SparkPlan): SparkPlan

  /** Tells what has gone wrong. */
  protected def failed(@unused failure: Throwable): Unit = ()

  final override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      try applied(plan)
      catch {
        case OurFailure(e) =>
          failed(e)
          plan
      }
  }
}
