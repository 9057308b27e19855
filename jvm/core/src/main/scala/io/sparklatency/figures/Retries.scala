package io.sparklatency.figures

/**
 * Which of two readings of one partition stands. Exactly one does, so each partition of a batch counts once: through task
 * retry, stage retry, speculation, jobs that sample their input, and several actions in one foreachBatch.
 */
object Retries {

  /**
   * Of two attempts at one task the newer stands. Any other two readings come from different jobs, such as the actions of one
   * foreachBatch, or a sort and the job that samples its input. Then the one stands that read more, because the other may have
   * stopped at a limit. If both read as much, the older stands: the records were there first when it read them, and whatever has
   * passed on to a later node has done so after that.
   */
  def supersedes(reading: Reading, other: Reading): Boolean =
    if (reading.attempt.isRetryOf(other.attempt) || other.attempt.isRetryOf(reading.attempt))
      reading.attempt.id > other.attempt.id
    else if (reading.summary.records == other.summary.records) reading.attempt.id <= other.attempt.id
    else reading.summary.records > other.summary.records
}

/** @param id grows throughout an application */
final case class TaskAttempt(stage: Int, taskPartition: Int, id: Long) {
  def isRetryOf(other: TaskAttempt): Boolean =
    stage == other.stage && taskPartition == other.taskPartition && id > other.id
}
