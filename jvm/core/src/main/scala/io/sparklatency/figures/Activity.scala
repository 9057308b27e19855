package io.sparklatency.figures

/**
 * What a query does at one moment, as its driver sees it.
 *
 * @param batch        the number of the batch that runs, between two triggers that of the last; in continuous mode of an epoch
 * @param doing        Spark's own words, but where an epoch hangs
 * @param sinceMs      for how long the trigger that runs has done so; none between two triggers, and while a batch goes on that is to: in
 *                     real-time mode for as long as it is set, in continuous mode as long as epochs are committed
 * @param hasData      whether there are records that the batch is to read, and has not committed
 * @param hasCommitted whether Spark has committed a batch of this run
 * @param hasNoEnd     whether tasks run as long as the query, or for minutes, and results can be seen before a batch ends: in real-time
 *                     and continuous mode
 * @param tasks        those of its jobs that run; none between jobs
 * @param left         what its last trigger left at sources that tell it
 */
final case class Activity(
    batch: Long,
    doing: String,
    sinceMs: Option[Long],
    hasData: Boolean,
    hasCommitted: Boolean = false,
    hasNoEnd: Boolean = false,
    tasks: Option[Activity.Tasks] = None,
    left: Seq[Activity.Left] = Nil
) {

  /** Whether a trigger runs that has found records: one that still asks its sources has found none. */
  def isAtWork: Boolean = sinceMs.nonEmpty && hasData

  /** Whether a trigger runs, and no task of its jobs is known to. */
  def isWithoutTasks: Boolean = sinceMs.nonEmpty && tasks.isEmpty
}

object Activity {
  final case class Tasks(done: Int, running: Int, all: Int)

  /** Records that a source had when a trigger asked it, and that the trigger did not read. */
  final case class Left(source: String, records: Long)
}
