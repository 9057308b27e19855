package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * What made the records of each batch of a run old. A window gives out its records when the batch has none that come in: then those that came
 * in last tell how long they waited. Not thread-safe.
 */
private final class RunParts {
  import RunParts._

  private var cameIn: Option[Came] = None

  /** A batch that ends, with the parts of its records' age and what kept them. Where no node shows what comes out, nobody knows. */
  def explained(batch: Batch, open: OpenBatch): Batch = {
    val came = for {
      ages <- open.arrivals
      admission <- batch.admission
      firstReadMs <- batch.firstReadMs
      waits <- arrived(ages, batch, open, admission, firstReadMs)
    } yield Came(batch.batch, waits, admission, batch.before)
    // The next batch tells what filled the one before it.
    cameIn =
      came.orElse(cameIn.map(of => if (of.batch == batch.batch - 1) of.copy(filled = batch.before) else of))
    val earlier = cameIn.filter(_.batch < batch.batch && open.holdsRecords)
    batch.copy(
      parts = partsOf(batch, open),
      admission = admissionOf(batch, open),
      before = earlier.fold(batch.before)(_.before),
      cameIn = earlier.flatMap(_.filled)
    )
  }

  private def arrived(
      ages: LatencySummary,
      batch: Batch,
      open: OpenBatch,
      admission: Admission,
      firstReadMs: Double
  ): Option[Waits] = {
    val isAhead = batch.nodes.exists(node => open.cameInAt(node.id) && node.isAheadOfClock)
    for (waits <- Waits.of(ages, batch.committedMs, admission, firstReadMs, isAhead); age <- ages.avg) yield {
      // Else what had passed between two timestamps of a record would be taken for waiting in state.
      val before = open.happenedMs.map(batch.committedMs - age - _)
      before.fold(waits)(waits.after)
    }
  }

  private def partsOf(batch: Batch, open: OpenBatch): Option[AgeParts] =
    if (!open.seesReading) None
    else if (!open.holdsRecords) AgeParts.of(batch, None)
    else if (cameIn.isEmpty || batch.slowestEnd.exists(end => open.cameInAt(end.id))) None
    else AgeParts.of(batch, cameIn.map(_.waits))

  private def admissionOf(batch: Batch, open: OpenBatch): Option[Admission] = {
    val theirs = cameIn.filter(_ => open.holdsRecords).map(_.admission)
    batch.admission.map(own => theirs.fold(own)(own.ofRecordsIn))
  }
}

private object RunParts {

  /**
   * The records that came in last.
   *
   * @param batch  with which they did
   * @param before what filled the batch before that
   * @param filled what filled that batch itself; none until the next one is over
   */
  private final case class Came(
      batch: Long,
      waits: Waits,
      admission: Admission,
      before: Option[Filling],
      filled: Option[Filling] = None
  )
}
