package io.sparklatency.figures

/**
 * The task in which a node was read.
 *
 * @param isLast whether no other node comes after it in the task's stretch of plan: the latency of the task itself is this node's
 */
final case class TaskPlace(id: TaskId, isLast: Boolean)

/** Where in a plan a node stands: the same for all tasks that read it. */
final case class MarkPlace(subtopology: Int, isLast: Boolean) {
  def in(partition: Int): TaskPlace = TaskPlace(TaskId(subtopology, partition), isLast)
}
