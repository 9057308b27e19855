package io.sparklatency.answer

/**
 * A run of a query that has a newer one, as a line of a list. All its figures can be had by the run's id.
 *
 * @param committedMs when its last batch was committed
 */
final case class EarlierRun(
    query: String,
    id: Option[String],
    runId: Option[String],
    status: Option[RunStatus],
    batches: Long,
    committedMs: Long
)
