package io.sparklatency

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Activity
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PlannedNode
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.figures.WorkSource
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.ManualClock

/** Runs whose running tasks report what their nodes did. */
trait ReportedRuns {
  protected val plannings: Seq[String] = Seq("a", "b", "c")

  protected def owner(node: String): MarkOwner = MarkOwner(NodeKey("orders", node), Some("id"), Some("run"))

  protected def planned(edges: (String, Set[String])*): Seq[PlannedNode] =
    edges.map { case (node, upstream) => PlannedNode(owner(node), upstream, plannings.indexOf(node).toLong) }

  protected val chain: Seq[PlannedNode] = planned("a" -> Set(), "b" -> Set("a"), "c" -> Set("b"))

  protected final class Ended extends WorkSource {
    var all = Map.empty[Long, Iterable[Reading]]
    override def readings(planning: Long): Iterable[Reading] = all.getOrElse(planning, Nil)
    override def offset(executor: String): Option[ClockOffset] = None
  }

  protected final class Runs(
      plan: Seq[PlannedNode],
      hasNoEnd: Boolean = false,
      tasks: Option[Activity.Tasks] = None
  ) {
    val clock = new ManualClock(1000)
    val ended = new Ended
    val live = new LiveRuns(
      clock,
      FiguresSettings(),
      FiguresListener.Nowhere,
      activity =
        _ =>
          Some(Activity(
            12,
            "Processing new data",
            Some(5000),
            hasData = true,
            hasCommitted = true,
            hasNoEnd = hasNoEnd,
            tasks = tasks
          )),
      work = ended
    )(_.stopped)
    live.planned(plan)

    def query: QuerySnapshot = live.snapshot().head
    def soFar: Map[String, Option[Double]] = latencies(query.soFar)
    def window: Map[String, Option[Double]] = latencies(query.times)
    def answer: QueryAnswer = new QueryAnswer(query, Some(RunStatus.Running))

    def report(stage: Int, task: Long, hasBatches: Boolean)(nodes: TaskReport.Node*): Unit =
      live.report(TaskReport(Some("run"), TaskAttempt(stage, 0, task), hasBatches, nodes))
  }

  protected def latencies(times: Option[BatchTimes]): Map[String, Option[Double]] =
    times.toSeq.flatMap(_.nodes).map(node => node.node -> node.latencyMs).toMap

  /** A node that has gone on for `over` milliseconds, and `waited` for rows of them, after so many rows. */
  protected def at(node: String, over: Float, waited: Float, rows: Long, from: Long = 0): TaskReport.Node =
    TaskReport.Node(
      plannings.indexOf(node).toLong,
      0,
      TaskSlice("1", from * 1000, over, over, over, waited),
      rows
    )
}
