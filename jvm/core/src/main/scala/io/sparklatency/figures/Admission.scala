package io.sparklatency.figures

/**
 * What kept records from the batch that read them, by the driver's clock in milliseconds since the epoch.
 *
 * @param sinceMs    since when a limit has left records behind; as `fixedMs` where none did
 * @param fixedMs    when the batch before had fixed up to where it reads, or a trigger without a batch had found no more
 * @param endedMs    when that was over
 * @param startMs    when this batch was triggered
 * @param tookMs     how long this batch took in all; not known before its end
 * @param limit      the option that left records behind, `maxOffsetsPerTrigger` say
 * @param intervalMs the trigger's interval, where it has one
 * @param fromFirst  whether the records came in with the first batch of the run, of which another is told, or were left behind since then:
 *                   by a limit, or because that batch did again what an earlier run had begun
 */
final case class Admission(
    sinceMs: Long,
    fixedMs: Long,
    endedMs: Long,
    startMs: Long,
    tookMs: Long,
    limit: Option[String] = None,
    intervalMs: Option[Long] = None,
    fromFirst: Boolean = false
) {

  /** Whether this is the first batch of its run. */
  def isFirst: Boolean = sinceMs == startMs

  /** Whether a source had records, and waited for more of them. */
  def waitsForMore: Boolean = limit.exists(Admission.Fewest)

  /** This, of a batch that gives out what came in with another: what kept those records is told of that one. */
  private[figures] def ofRecordsIn(other: Admission): Admission =
    if (other == this) this else copy(limit = other.limit, fromFirst = other.isFirst || other.fromFirst)

  /** Where one wait ends and the next begins, in order: what is told out of order took no time. */
  private[figures] def bounds(firstReadMs: Double): Seq[Double] =
    Seq(math.min(sinceMs, fixedMs), fixedMs, endedMs, startMs).map(_.toDouble).appended(firstReadMs)
      .scanLeft(Double.MinValue)(math.max).tail
}

object Admission {

  /** The option of Kafka's that has it wait until there are so many records, or until it has waited for `maxTriggerDelay`. */
  val MinOffsets = "minOffsetsPerTrigger"

  /** The same of a reader in Python, which says itself how long it waits. */
  val MinRows = "ReadMinRows"

  private val Fewest = Set(MinOffsets, MinRows)

  /** Of the first batch of a run: what is older than its trigger came before the query ran. */
  def first(startMs: Long, tookMs: Long): Admission = Admission(startMs, startMs, startMs, startMs, tookMs)
}
