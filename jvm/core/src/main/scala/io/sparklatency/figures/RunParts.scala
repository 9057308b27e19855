package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * What made the records of each batch of a run old. A window gives out its records when the batch has none that come in: then those that came
 * in last tell how long they waited. Not thread-safe.
 */
private final class RunParts {
  private var cameIn: Option[(Waits, Admission)] = None

  /** A batch that ends, with the parts of its records' age and what kept them. Where no node shows what comes out, nobody knows. */
  def explained(batch: Batch, open: OpenBatch): Batch = {
    for (ages <- open.arrivals; admission <- batch.admission; firstReadMs <- batch.firstReadMs)
      cameIn = arrived(ages, batch, open, admission, firstReadMs).map(_ -> admission).orElse(cameIn)
    batch.copy(parts = partsOf(batch, open), admission = admissionOf(batch, open))
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
    else AgeParts.of(batch, cameIn.map { case (waits, _) => waits })

  private def admissionOf(batch: Batch, open: OpenBatch): Option[Admission] = {
    val theirs = cameIn.filter(_ => open.holdsRecords).map { case (_, admission) => admission }
    batch.admission.map(own => theirs.fold(own)(own.ofRecordsIn))
  }
}
