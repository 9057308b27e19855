package org.apache.spark.sql.latency

import java.util.IdentityHashMap

import scala.collection.mutable

import io.sparklatency.Measure
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec

/**
 * A mark in a plan that was run.
 *
 * @param subtopology the stretch of plan without a shuffle in which it stands, numbered from the sources
 * @param upstream    ids of the nodes whose records come to it next
 */
private[latency] final case class PlannedMark(
    figures: LatencyAccumulator,
    subtopology: Int,
    upstream: Set[String]
) {
  def node: String = figures.owner.key.node
  def measure: Measure = figures.owner.measure
}

/** Finds the marks of a plan, also in what Spark keeps apart from the tree. */
private[latency] object MarkedPlan {

  /** Upstream first. */
  def marks(plan: SparkPlan): Seq[PlannedMark] = {
    val walk = new Walk
    walk.stretch(plan)
    walk.found.toSeq.distinctBy(_.figures.id)
  }

  private final class Walk {
    val found = mutable.ArrayBuffer.empty[PlannedMark]
    private val upstreamOf = new IdentityHashMap[SparkPlan, Set[String]]
    private var stretches = 0

    /** The nodes whose records leave a stretch. It is numbered after those that it reads from. */
    def stretch(root: SparkPlan): Set[String] = {
      if (!upstreamOf.containsKey(root)) {
        val marks = mutable.ArrayBuffer.empty[(LatencyAccumulator, Set[String])]
        upstreamOf.put(root, walk(root, marks))
        marks.foreach { case (figures, upstream) => found += PlannedMark(figures, stretches, upstream) }
        stretches += 1
      }
      upstreamOf.get(root)
    }

    private def walk(node: SparkPlan, marks: mutable.Buffer[(LatencyAccumulator, Set[String])]): Set[String] =
      node match {
        case adaptive: AdaptiveSparkPlanExec =>
          val upstream = walk(adaptive.executedPlan, marks)
          // The rest of a query is planned anew while it runs, and a stage that has run may be dropped from the final plan.
          if (adaptive.initialPlan ne adaptive.executedPlan) {
            val numbered = stretches
            walk(adaptive.initialPlan, marks)
            stretches = numbered
          }
          upstream
        case stage: QueryStageExec => walk(stage.plan, marks)
        case reused: ReusedExchangeExec => walk(reused.child, marks)
        case exchange: Exchange => stretch(exchange.child)
        case cached: InMemoryTableScanExec => stretch(cached.relation.cachedPlan)
        case other =>
          val upstream = (other.subqueries.map(stretch) ++ other.children.map(walk(_, marks))).flatten.toSet
          other match {
            case Mark(mark, _) =>
              marks += mark.figures -> upstream
              if (mark.figures.owner.measure == Measure.E2ELatency) Set(mark.node) else upstream
            case _ => upstream
          }
      }
  }
}
