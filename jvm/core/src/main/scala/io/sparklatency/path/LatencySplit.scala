package io.sparklatency.path

import io.sparklatency.recording.LatencySummary

/**
 * The age of records at the end of their way, and what it is made of: source queuing, processing, commit.
 *
 * @param hasSource whether a node stands where records come in, and another behind it
 * @param queuing   the age of records at those nodes: from their timestamp until the query first saw them
 * @param atEnd     their age at the last nodes
 * @param committed their age when the results of the batch were committed: all of it
 * @param isComparable whether all of these ages are by one timestamp of a record
 */
final case class LatencySplit(
    hasSource: Boolean,
    queuing: LatencySummary,
    atEnd: LatencySummary,
    committed: LatencySummary,
    isComparable: Boolean = true
) {
  import LatencySplit._

  /** From the source nodes to the last nodes; none where the age at either is unknown, or by another timestamp. */
  lazy val processing: Option[ProcessingDelay] = if (isComparable) between(queuing, atEnd) else None

  /** From the last nodes to the commit; none where the age at either is unknown. */
  lazy val commit: Option[ProcessingDelay] = between(atEnd, committed)
}

object LatencySplit {
  private def between(here: LatencySummary, there: LatencySummary): Option[ProcessingDelay] =
    Option.when(here.count > 0 && there.count > 0)(ProcessingDelay.between(here, there))
}
