package io.sparklatency.figures

/**
 * The mean age of a batch's records when its results could be seen, in parts that follow one another and add up to it. In
 * milliseconds.
 *
 * @param end    the node that the records left last
 * @param waits  until the first read
 * @param work   from then until they had left the last node
 * @param state  what records that come out are dated earlier than those that came in: they waited in state for their watermark, or
 *               for others. Negative where they are dated later, as a window's end is
 * @param commit from the last node until the results could be seen
 */
final case class AgeParts(end: String, waits: Waits, work: Double, state: Double, commit: Double) {
  def whole: Double = waits.whole + work + state + commit

  /** Records' ages are whole milliseconds and the first read is not: less than one before it is no work. */
  private def rounded: AgeParts = if (work < 0 && work > -1) copy(work = 0, commit = commit + work) else this
}

object AgeParts {

  /**
   * Of a batch with records at its end.
   *
   * @param cameIn how long the records waited that came in last, where an operator holds records: others come out then. None where the
   *               same records come out
   */
  def of(batch: Batch, cameIn: Option[Waits]): Option[AgeParts] = for {
    admission <- batch.admission
    firstReadMs <- batch.firstReadMs if areInOrder(admission, firstReadMs, batch.committedMs)
    end <- batch.slowestEnd
    age = end(Measure.E2ELatency)
    committed = end(Measure.Commit)
    (before, after) <- age.avg.zip(committed.avg)
    isAhead = batch.nodes.exists(_.isAheadOfClock)
    waits <- cameIn.orElse(Waits.of(committed, batch.committedMs, admission, firstReadMs, isAhead))
  } yield {
    val commit = after - before
    val work = batch.committedMs - commit - firstReadMs
    val rest = after - waits.whole - commit
    if (cameIn.nonEmpty) AgeParts(end.id, waits, work, rest - work, commit)
    else {
      // The same records came in. Where that leaves time over, their timestamps were made after the first read, as an ingestion timestamp
      // is: nobody worked on them before.
      val later = math.min(work - rest, work).max(0)
      AgeParts(end.id, waits.after(rest - work + later), work - later, 0, commit).rounded
    }
  }

  /** They are not where the clock was set back meanwhile. */
  private def areInOrder(admission: Admission, firstReadMs: Double, committedMs: Long): Boolean = {
    val times = Seq(admission.endedMs.toDouble, admission.startMs.toDouble, firstReadMs, committedMs.toDouble)
    times.zip(times.drop(1)).forall { case (earlier, later) => earlier - later < ClockSlackMs }
  }

  /** How far the clocks of two executors may be apart where nobody compares them. */
  private val ClockSlackMs = 1000
}
