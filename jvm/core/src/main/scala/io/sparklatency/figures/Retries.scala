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
   * passed on to a later node has done so after that. What the newer did is work on the batch all the same, and the last of it.
   */
  def standing(one: Reading, other: Reading): Reading = {
    val (older, newer) = if (one.attempt.id <= other.attempt.id) (one, other) else (other, one)
    if (newer.attempt.isRetryOf(older.attempt)) newer
    else if (older.summary.records == newer.summary.records)
      older.copy(again = Some(Seq(older.work, newer.work).maxBy(_.attempt.id)))
    else Seq(older, newer).maxBy(_.summary.records)
  }
}
