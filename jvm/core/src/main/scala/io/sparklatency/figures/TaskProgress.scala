package io.sparklatency.figures

/**
 * When a task of a run last got on, as far as is known, how many have failed, and which executors were lost. Keeps the newest thousand of
 * its stages, and of the executors. Not thread-safe.
 */
private[figures] final class TaskProgress {
  private val stages = new Newest[Int](TaskProgress.StagesKept)
  private var lastMs = Option.empty[Long]
  private var lost = FailedTasks.Empty
  private var gone = Vector.empty[LostExecutor]

  def atMs: Option[Long] = lastMs
  def failed: FailedTasks = lost
  def lostExecutors: Seq[LostExecutor] = gone

  /** A job of the run begins: its tasks are those of these stages. */
  def jobStarted(stages: Iterable[Int]): Unit = stages.foreach(this.stages.add)

  /** A task of this stage, of whichever run, has ended well. */
  def succeeded(stage: Int, nowMs: Long): Unit = if (stages.contains(stage)) gotOn(nowMs)

  /** An attempt of a task of this stage, of whichever run, has failed. */
  def failed(stage: Int, task: FailedTask): Unit = if (stages.contains(stage)) lost = lost.add(task)

  /** Whether or not a task of the run was there: its next ones have fewer places. Where one is told again, the later reason says more. */
  def executorLost(executor: LostExecutor): Unit = {
    val place = gone.indexWhere(_.executor == executor.executor)
    if (place < 0) gone = (gone :+ executor).takeRight(TaskProgress.ExecutorsKept)
    else gone = gone.updated(place, executor.copy(atMs = gone(place).atMs))
  }

  /** A record more has come to one. */
  def gotOn(nowMs: Long): Unit = lastMs = Some(nowMs)
}

private object TaskProgress {
  private val StagesKept = 1000
  private val ExecutorsKept = 1000
}
