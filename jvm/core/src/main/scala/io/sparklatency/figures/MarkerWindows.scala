package io.sparklatency.figures

/**
 * What stands for latency markers where no batch ends: seconds of running tasks. There a task takes one row after another from its
 * source through all of its nodes, and looks at it tell for what part of the time a row was under way to each. That time, divided by
 * the rows, is the mean time that a row of this second took from the source to the node (Little's law). A marker that went between two
 * rows, as Flink's do, would take no time at all.
 *
 * Known within the task that reads a source, where the same rows pass, and of a second in which some did. What waits for a shuffle is
 * not known. Keeps a report for each task that runs. Not thread-safe.
 */
private final class MarkerWindows {
  import MarkerWindows._

  private var last = Map.empty[Long, TaskReport]

  def taskEnded(task: Long): Unit = last -= task

  /**
   * What a task did since the report before this; nothing of the first.
   *
   * @param node     the id of a planned node
   * @param isSource whether no node is before one
   */
  def report(now: TaskReport, node: Long => Option[String], isSource: String => Boolean): Seq[Pass] = {
    val before = last.get(now.attempt.id)
    last += now.attempt.id -> now
    val spans = for {
      earlier <- before.toSeq
      named = now.nodes.flatMap(one => node(one.planning).map(_ -> one))
      (source, from) <- named if isSource(source)
      (id, to) <- named if !isSource(id) && Set(0L, 1L)(from.rows - to.rows)
      old <- earlier.nodes.find(_.goesOnWith(to))
      span <- span(old, to)
    } yield Way(source, from.partition, id, to.partition) -> span
    // Of several epochs as many rows may have come, and the end of one and the beginning of the next are one second.
    spans.distinct.groupMapReduce { case (way, _) => way } { case (_, span) => span }(_ + _).toSeq
      .map { case (way, span) => Pass(way, span.mean) }
  }

  private def span(old: TaskReport.Node, now: TaskReport.Node): Option[Span] = {
    val (rows, watched) = (now.rows - old.rows, now.slice.watchedMs - old.slice.watchedMs)
    val (waited, over) = (now.slice.waitedMs - old.slice.waitedMs, now.slice.overMs - old.slice.overMs)
    Option.when(rows > 0 && watched > 0)(Span(waited.toDouble * over / watched, rows))
  }
}

private object MarkerWindows {
  final case class Way(source: String, sourceSubtask: Int, operator: String, operatorSubtask: Int) {
    def key(granularity: Granularity): MarkerKey =
      MarkerKey(granularity, source, sourceSubtask, operator, Some(operatorSubtask))
  }

  /** @param ms the mean time of a row on the way */
  final case class Pass(way: Way, ms: Long)

  /** For how long rows were under way, and how many came. */
  private final case class Span(ms: Double, rows: Long) {
    def +(other: Span): Span = Span(ms + other.ms, rows + other.rows)
    def mean: Long = math.round(ms / rows)
  }
}
