package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import org.apache.spark.sql.execution.SparkPlan

/**
 * The plans with marks that were made within each execution that goes on. Spark runs some of them as part of that
 * execution, whose own plan does not have them: what it hands to Kafka's batch writer, what Python reads as an RDD
 * within `foreachBatch`.
 *
 * Keeps those plans until their execution ends, of the last [[PlannedMarks.Kept]] executions. Costs a look-up for
 * each plan, and a walk over it when its execution ends. Thread-safe: planning threads add, the listener's thread
 * takes.
 */
private[latency] final class PlannedMarks {
  import PlannedMarks._

  private val plans = mutable.LinkedHashMap.empty[Long, Vector[SparkPlan]]
  private val ran = mutable.LinkedHashSet.empty[Long] // of the executions that have ended

  def planned(plan: SparkPlan, execution: Long): Unit = synchronized {
    plans(execution) = plans.getOrElse(execution, Vector.empty) :+ plan
    if (plans.size > Kept) plans -= plans.head._1
  }

  /** An execution has ended that ran `marks`. Gives those that were planned within it and that no execution ran. */
  def ended(execution: Long, marks: Seq[ExecutedMark]): Seq[ExecutedMark] = {
    val within = synchronized {
      ran ++= marks.map(_.figures.id)
      ran --= ran.take(ran.size - RanKept).toList
      plans.remove(execution)
    }
    // A plan is told as a whole, before its stages are.
    val others = within.toSeq.flatten.flatMap(ExecutedMarks.of).distinctBy(_.figures.id)
    others.filterNot(mark => synchronized(ran.contains(mark.figures.id)))
  }
}

private object PlannedMarks {
  val Kept = 1000
  val RanKept = 10000
}
