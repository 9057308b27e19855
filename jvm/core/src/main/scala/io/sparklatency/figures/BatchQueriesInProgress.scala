package io.sparklatency.figures

import scala.collection.mutable

import io.sparklatency.time.ClockOffset

/**
 * What is known of the batch queries that run. Spark plans what never runs, to explain it say, and runs one plan
 * several times, so a plan does not tell its execution; the stages of the execution's jobs do. Keeps the numbers of
 * those, and the last [[BatchQueriesInProgress.Kept]] marks that were planned. Not thread-safe.
 */
private final class BatchQueriesInProgress {
  import BatchQueriesInProgress._

  private val progress = new BatchInProgress
  private val executions = mutable.LinkedHashMap.empty[Long, Set[Int]]

  /** A plan may be about to run. */
  def planned(nodes: Seq[PlannedNode]): Unit = {
    progress.planned(nodes)
    progress.keep(BatchInProgress.Kept)
  }

  /** An execution runs these stages, beside those that it has run. */
  def started(execution: Long, stages: Iterable[Int]): Unit = {
    executions(execution) = executions.getOrElse(execution, Set.empty) ++ stages
    if (executions.size > Kept) executions -= executions.head._1
  }

  def ended(execution: Long): Unit = executions -= execution

  def report(report: TaskReport): Unit = {
    progress.report(report)
    ()
  }
  def taskEnded(task: Long): Unit = progress.taskEnded(task)

  /** Nothing more comes from these. */
  def ended(plannings: Set[Long]): Unit = progress.ended(plannings)

  /**
   * Asks what the operators of the newest execution did so far of which anything is known. To be called once, by any
   * thread.
   */
  def asked(source: WorkSource): () => Option[(MarkOwner, BatchTimes)] = {
    val once = new Once(source)
    val newestFirst = executions.toList.reverse.map { case (execution, stages) =>
      (execution, progress.asked(once, (_, _) => false, stages))
    }
    val owner = progress.owner
    () =>
      newestFirst.iterator.flatMap { case (execution, ask) => ask().map(_.copy(batch = execution)) }
        .nextOption().flatMap(times => owner.map(_ -> times))
  }
}

private object BatchQueriesInProgress {
  val Kept = 1000

  /** Asks once for each mark, however many executions might have it. For one thread. */
  private final class Once(source: WorkSource) extends WorkSource {
    private val known = mutable.LongMap.empty[Iterable[Reading]]
    override def readings(planning: Long): Iterable[Reading] =
      known.getOrElseUpdate(planning, source.readings(planning))
    override def offset(executor: String): Option[ClockOffset] = source.offset(executor)
  }
}
