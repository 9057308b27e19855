package io.sparklatency

import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.OperatorLatency
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.time.ManualClock

/** What the driver hears of a run, and the tasks that it shows. */
trait MarksOfRun {
  protected val Start: Long = 1790000000000L
  protected val clock = new ManualClock(Start)
  protected val query = "figures"

  protected def owner(node: String): MarkOwner = MarkOwner(NodeKey(query, node), Some("id"), Some("run"))

  /** A record of each age, in a partition of its own. */
  protected def mark(node: String, subtopology: Int, upstream: String*)(ages: Long*): MarkReadings = {
    val readings = ages.zipWithIndex.map { case (age, partition) =>
      val attempt = TaskAttempt(0, partition, partition.toLong)
      val summary = Aged.records(age)
      Reading(partition, attempt, planning = 0, number = 0, summary, rest = summary)
    }
    MarkReadings(
      node,
      Measure.E2ELatency,
      subtopology,
      upstream.toSet,
      readings,
      readsSource = subtopology == 0
    )
  }

  /** The tasks that were shown. */
  protected final class Tasks extends FiguresListener {
    var figures = Map.empty[String, LiveFigures]
    def shown: Set[String] = figures.keySet

    /** How many records each has in all, where it has any. */
    def records: Map[String, Long] =
      figures.view.mapValues(_.snapshot().total.records).filter(_._2 > 0).toMap
    override def added(key: NodeKey, measure: Measure, figures: LiveFigures): Unit = ()
    override def addedTask(query: String, task: String, node: Option[String], figures: LiveFigures): Unit =
      this.figures += s"$task ${node.orNull}" -> figures
    override def addedOperator(key: NodeKey, latency: OperatorLatency): Unit = ()
    override def addedQuery(query: String, read: () => Option[QuerySnapshot]): Unit = ()
    override def removed(query: String): Unit = ()
  }
}
