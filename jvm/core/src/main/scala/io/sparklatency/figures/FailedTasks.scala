package io.sparklatency.figures

/**
 * The attempts of a run's tasks that have failed. Spark runs such a task again, so nothing is lost but time. An attempt that was
 * killed, as the slower of two is, has not failed.
 *
 * @param last of them; none where only events of batches are known
 */
final case class FailedTasks(count: Long, last: Option[FailedTask] = None) {
  def add(failed: FailedTask): FailedTasks = FailedTasks(count + 1, Some(failed))
}

object FailedTasks {
  val Empty: FailedTasks = FailedTasks(0)
}

/** @param why in one line */
final case class FailedTask(atMs: Long, why: String)
