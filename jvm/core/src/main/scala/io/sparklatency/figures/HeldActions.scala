package io.sparklatency.figures

/**
 * The marks of the actions inside one foreachBatch, kept until its batch ends. Several actions may run the same node. Then the
 * action stands, node by node, that read most: partitions of different executions need not be the same. Of two that read as much the
 * earlier stands, as in [[Retries]]. Not thread-safe.
 *
 * @param place   the node and measure of a mark
 * @param records how many records those of one action count: where it has planned a node several times, one planning counts
 * @tparam M a mark
 */
final class HeldActions[M](place: M => (String, Measure), records: Seq[M] => Long) {
  private var held = Seq.empty[M]

  /** Keeps the marks of one action. Gives back those that do not stand, of this action or of earlier ones. */
  def hold(marks: Seq[M]): Seq[M] = {
    val all = held ++ marks.filterNot(held.contains)
    val (kept, dropped) = all.groupBy(place).values.map { same =>
      val (before, now) = same.partition(held.contains)
      if (before.isEmpty || records(now) > records(before)) now -> before else before -> now
    }.unzip
    val stand = kept.flatten.toSet
    held = all.filter(stand)
    dropped.flatten.toSeq
  }

  /** Whether it stands so far. */
  def holds(mark: M): Boolean = held.contains(mark)

  /** Gives out the marks that stand. */
  def release(): Seq[M] = {
    val released = held
    held = Nil
    released
  }
}
