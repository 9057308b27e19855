package org.apache.spark.sql.latency

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.StreamingQueryWrapper
import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.recording.MarkOperator
import org.apache.spark.sql.streaming.StreamingQuery

/** Plans as they were run. In Spark's own package for its visibility. */
object Plans extends AdaptiveSparkPlanHelper {

  /** The plan of the last batch of a query. */
  def executed(query: StreamingQuery): SparkPlan =
    batch(query).executedPlan

  /** The last batch itself. */
  def batch(query: StreamingQuery): IncrementalExecution =
    query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution

  /** The plans of the batches that `run` runs to their end, by batch. The last batch of a stateful query as a rule has no data. */
  def batches(context: SparkContext)(run: => Unit): Map[Long, SparkPlan] = {
    val ended = new ConcurrentLinkedQueue[(Long, SparkPlan)]
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case end: SparkListenerSQLExecutionEnd =>
          Option(end.qe).collect { case batch: IncrementalExecution =>
            ended.add(batch.currentBatchId -> batch.executedPlan)
          }
          ()
        case _ =>
      }
    }
    context.addSparkListener(listener)
    try {
      run
      ListenerBus.awaitEmpty(context)
    } finally context.removeSparkListener(listener)
    ended.asScala.toMap
  }

  /** A plan in words, stages of generated code and of adaptive planning included, marks and whatever changes with each run left out. */
  def withoutMarks(plan: SparkPlan): String =
    lines(plan, 0).map(_.replaceAll("#\\d+L?", "#").replaceAll("plan_id=\\d+", "plan_id")
      .replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "uuid").replaceAll(
        "runId = [^,]*|checkpoint = [^,]*|batchId = \\d+|file:[^, \\]]*|@[0-9a-f]+|[0-9]{13,}",
        ""
      )).mkString("\n")

  /** What the stages of the last batch were compiled from, without the ids that Spark gives anew and puts into comments. */
  def generatedCode(query: StreamingQuery): Seq[String] = generatedCode(executed(query))

  /** The same of the plan of any batch. */
  def generatedCode(plan: SparkPlan): Seq[String] =
    collect(plan) { case stage: WholeStageCodegenExec => stage.doCodeGen()._2.body }

  def marks(plan: SparkPlan): Int =
    collect(plan) { case MarkOperator(_, _) => 1 }.sum

  private def lines(plan: SparkPlan, depth: Int): Seq[String] = plan match {
    case MarkOperator(_, below) => lines(below, depth)
    case adaptive: AdaptiveSparkPlanExec =>
      (" " * depth + "Adaptive") +: lines(adaptive.executedPlan, depth + 1)
    case stage: QueryStageExec => (" " * depth + stage.nodeName) +: lines(stage.plan, depth + 1)
    case other => (" " * depth + other.simpleString(1000)) +: other.children.flatMap(lines(_, depth + 1))
  }
}
