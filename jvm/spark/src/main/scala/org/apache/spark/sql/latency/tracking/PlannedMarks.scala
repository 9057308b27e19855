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
  private val roots = mutable.LongMap.empty[Long] // of executions that go on within another
  private val nodesWithin =
    mutable.LinkedHashMap.empty[Long, Set[String]] // that those have run, by the other

  def planned(plan: SparkPlan, execution: Long): Unit = synchronized {
    plans(execution) = plans.getOrElse(execution, Vector.empty) :+ plan
    if (plans.size > Kept) plans -= plans.head._1
  }

  /** An execution has begun, as part of another where `root` is another. */
  def began(execution: Long, root: Option[Long]): Unit = synchronized {
    root.filter(_ != execution).foreach(roots(execution) = _)
  }

  /** An execution has ended that ran `marks`. Planning threads do not wait for the walk. */
  def ended(execution: Long, marks: Seq[ExecutedMark]): Within = {
    val (made, nodes) = synchronized {
      for (root <- roots.remove(execution)) {
        nodesWithin(root) = nodesWithin.getOrElse(root, Set.empty[String]) ++ marks.map(_.node)
        if (nodesWithin.size > Kept)
          nodesWithin -= nodesWithin.head._1 // that of a thread which goes on alone stays
      }
      (plans.remove(execution), nodesWithin.remove(execution))
    }
    // A plan is told as a whole, before its stages are.
    val own = marks.map(_.figures.id).toSet
    val others = made.toSeq.flatten.flatMap(ExecutedMarks.of).distinctBy(_.figures.id)
    Within(others.filterNot(mark => own(mark.figures.id)), nodes.getOrElse(Set.empty))
  }
}

private[tracking] object PlannedMarks {

  /** What was planned within an execution and is not in its own plan, and the nodes that executions within it have run. */
  final case class Within(marks: Seq[ExecutedMark], nodes: Set[String])

  val Kept = 1000
}
