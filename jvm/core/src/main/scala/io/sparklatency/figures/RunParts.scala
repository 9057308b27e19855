package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * What made the records of each batch of a run old. A window gives out its records when the batch has none that come in: then those that came
 * in last tell how long they waited. Not thread-safe.
 */
private final class RunParts {
  import RunParts._

  private var cameIn: Option[Came] = None
  private var cameInAt = Map.empty[String, Came] // where several nodes take records in

  /** A batch that ends, with the parts of its records' age and what kept them. Where no node shows what comes out, nobody knows. */
  def explained(batch: Batch, open: OpenBatch): Batch = {
    def came(ages: LatencySummary, at: String => Boolean) = for {
      admission <- batch.admission
      firstReadMs <- batch.firstReadMs
      waits <- arrived(ages, at, batch, open, admission, firstReadMs)
    } yield Came(batch.batch, waits, admission, batch.before)
    // The next batch tells what filled the one before it.
    def kept(of: Came) = if (of.batch == batch.batch - 1) of.copy(filled = batch.before) else of
    cameIn = open.arrivals.flatMap(came(_, open.cameInAt)).orElse(cameIn.map(kept))
    cameInAt = cameInAt.map { case (node, of) => node -> kept(of) } ++ open.arrivalsByNode.flatMap {
      case (node, ages) => came(ages, _ == node).map(node -> _)
    }
    val theirs = cameInWith(batch, open)
    val earlier = theirs.filter(_.batch < batch.batch && open.holdsRecords)
    batch.copy(
      parts = partsOf(batch, open, theirs),
      admission = admissionOf(batch, open, theirs),
      before = earlier.fold(batch.before)(_.before),
      cameIn = earlier.flatMap(_.filled)
    )
  }

  /**
   * Those that tell how long what comes out waited until it was read. Of a join often one side dates it, of which few records come beside
   * many of the other: how old these were does not matter then.
   */
  private def cameInWith(batch: Batch, open: OpenBatch): Option[Came] = {
    val dated =
      batch.slowestEnd.fold(Set.empty[String])(end => open.datedBy(end.id)).filter(cameInAt.contains)
    Option.when(dated.size == 1 && open.happenedMs.isEmpty)(cameInAt(dated.head)).orElse(cameIn)
  }

  private def arrived(
      ages: LatencySummary,
      at: String => Boolean,
      batch: Batch,
      open: OpenBatch,
      admission: Admission,
      firstReadMs: Double
  ): Option[Waits] = {
    val isAhead = batch.nodes.exists(node => at(node.id) && node.isAheadOfClock)
    for (waits <- Waits.of(ages, batch.committedMs, admission, firstReadMs, isAhead); age <- ages.avg) yield {
      // Else what had passed between two timestamps of a record would be taken for waiting in state.
      val before = open.happenedMs.map(batch.committedMs - age - _)
      before.fold(waits)(waits.after)
    }
  }

  private def partsOf(batch: Batch, open: OpenBatch, theirs: Option[Came]): Option[AgeParts] =
    if (!open.seesReading) None
    else if (!open.holdsRecords) AgeParts.of(batch, None)
    else if (theirs.isEmpty || batch.slowestEnd.exists(end => open.cameInAt(end.id))) None
    else AgeParts.of(batch, theirs.map(_.waits))

  private def admissionOf(batch: Batch, open: OpenBatch, theirs: Option[Came]): Option[Admission] = {
    val ofRecordsIn = theirs.filter(_ => open.holdsRecords).map(_.admission)
    batch.admission.map(own => ofRecordsIn.fold(own)(own.ofRecordsIn))
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
