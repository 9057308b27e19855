package io.sparklatency.figures

/**
 * Whose figures these are.
 *
 * @param queryId the id of the streaming query, which survives restarts; none for a batch query
 * @param runId   the id of this run of it
 */
final case class MarkOwner(
    key: NodeKey,
    queryId: Option[String],
    runId: Option[String],
    measure: Measure = Measure.E2ELatency
)
