package io.sparklatency.figures

/**
 * When a task of a run last got on, as far as is known, and how many have failed. Keeps the newest thousand of its stages. Not
 * thread-safe.
 */
private[figures] final class TaskProgress {
  private val stages = new Newest[Int](TaskProgress.StagesKept)
  private var lastMs = Option.empty[Long]
  private var lost = FailedTasks.Empty

  def atMs: Option[Long] = lastMs
  def failed: FailedTasks = lost

  /** A job of the run begins: its tasks are those of these stages. */
  def jobStarted(stages: Iterable[Int]): Unit = stages.foreach(this.stages.add)

  /** A task of this stage, of whichever run, has ended well. */
  def succeeded(stage: Int, nowMs: Long): Unit = if (stages.contains(stage)) gotOn(nowMs)

  /** An attempt of a task of this stage, of whichever run, has failed. */
  def failed(stage: Int, task: FailedTask): Unit = if (stages.contains(stage)) lost = lost.add(task)

  /** A record more has come to one. */
  def gotOn(nowMs: Long): Unit = lastMs = Some(nowMs)
}

private object TaskProgress {
  private val StagesKept = 1000
}
