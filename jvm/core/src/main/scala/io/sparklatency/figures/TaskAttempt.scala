package io.sparklatency.figures

/**
 * One of the attempts at a task.
 *
 * @param id grows throughout an application
 */
final case class TaskAttempt(stage: Int, taskPartition: Int, id: Long) {
  def isRetryOf(other: TaskAttempt): Boolean =
    stage == other.stage && taskPartition == other.taskPartition && id > other.id
}
