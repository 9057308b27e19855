package org.apache.spark.sql.latency.planning

import io.sparklatency.figures.PlannedNode
import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.recording.LatencyAccumulator
import org.apache.spark.sql.latency.recording.TaskFigures

/**
 * What the planning of marks asks of the application around it. So `planning` knows neither the listener nor the figures.
 * Called for each plan and mark, never for a record. Thread-safe: queries plan in threads of their own.
 */
trait MarkedApplication {

  /** The name under which this run of a query is shown, as long as it lasts. */
  def nameOf(query: StreamExecution): String

  /** Shows, in each process, what its tasks record. */
  def taskFigures: TaskFigures

  /** A mark was planned; its records wait for a commit from now on. */
  def planned(figures: LatencyAccumulator): Unit

  /** A plan with these nodes, upstream first, is about to run. */
  def planned(nodes: Seq[PlannedNode]): Unit

  /** A plan with marks was made within an execution that goes on. */
  def planned(plan: SparkPlan, execution: Long): Unit

  /**
   * What a query is planned without, as `LeftOut` says it: logs it once, and shows it as long as the run.
   *
   * @param isChosen whether a setting asked for that: then it is no warning
   */
  def leftOut(query: String, run: Option[String], text: String, isChosen: Boolean = false): Unit

  /** What keeps this run's system-time watermark from closing windows. */
  def warned(run: String, problem: String): Unit

  /** Warns of a problem of a query once. Every batch is planned anew, and would say the same. */
  def tellOnce(query: String, problem: String): Unit
}

/** Holds the way to the application of a context. */
object MarkedApplication {

  /** That of a context that has been stopped. A query may go on for a moment, and plan another batch. Shows nothing of it. */
  object Ended extends MarkedApplication {
    override def nameOf(query: StreamExecution): String = CurrentQuery.nameOf(query)
    override def taskFigures: TaskFigures = TaskFigures.Nowhere
    override def planned(figures: LatencyAccumulator): Unit = ()
    override def planned(nodes: Seq[PlannedNode]): Unit = ()
    override def planned(plan: SparkPlan, execution: Long): Unit = ()
    override def leftOut(query: String, run: Option[String], text: String, isChosen: Boolean): Unit = ()
    override def warned(run: String, problem: String): Unit = ()
    override def tellOnce(query: String, problem: String): Unit = ()
  }

  /**
   * Finds the application of a context, and makes it when first asked; [[Ended]] if the context has been stopped. It is an object, so
   * that two rules that hold it are equal. Thread-safe; costs a look-up.
   */
  trait Finder {
    def of(context: SparkContext): MarkedApplication
  }
}
