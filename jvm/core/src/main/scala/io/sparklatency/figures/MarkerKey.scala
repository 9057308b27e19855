package io.sparklatency.figures

/**
 * Between what the markers of a histogram were timed, by the names that Flink gives it.
 *
 * @param source          id of the node where they were marked; none where sources are not kept apart
 * @param sourceSubtask   its partition; none where those are not kept apart
 * @param operator        id of the node that they passed, or [[MarkerKey.Commit]]
 * @param operatorSubtask its partition; none at the commit
 */
final case class MarkerKey(
    source: Option[String],
    sourceSubtask: Option[Int],
    operator: String,
    operatorSubtask: Option[Int]
) {

  /** The same of all partitions. */
  def ofAllSubtasks: MarkerKey = copy(sourceSubtask = None, operatorSubtask = None)

  /** Those that are known, in Flink's order. */
  def tags: Seq[(String, String)] = Seq(
    "source_id" -> source,
    "source_subtask_index" -> sourceSubtask.map(_.toString),
    "operator_id" -> Some(operator),
    "operator_subtask_index" -> operatorSubtask.map(_.toString)
  ).collect { case (name, Some(value)) => name -> value }
}

object MarkerKey {

  /** What stands for a node where markers end: the batch is committed. */
  val Commit = "__commit__"

  /** Where those go that are too many to show one by one. */
  val Other: MarkerKey = MarkerKey(None, None, RunFigures.Other, None)

  def apply(
      granularity: Granularity,
      source: String,
      sourceSubtask: Int,
      operator: String,
      operatorSubtask: Option[Int]
  ): MarkerKey = MarkerKey(
    Option.when(granularity != Granularity.Single)(source),
    Option.when(granularity == Granularity.Subtask)(sourceSubtask),
    operator,
    operatorSubtask
  )
}
