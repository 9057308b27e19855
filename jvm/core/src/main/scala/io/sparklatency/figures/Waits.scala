package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * How long records waited on average until their batch began to read, in milliseconds: one wait after another. They add up to the
 * mean age at the first read.
 *
 * @param arrivedOld  how old they were when the query could first have read them, as far as is known
 * @param backlog     while a limit left them behind
 * @param batchBefore while the batch before ran
 * @param trigger     until the trigger
 * @param start       from then to the first read: offsets, planning, scheduling, what tasks do to get ready
 */
final case class Waits(
    arrivedOld: Double,
    backlog: Double,
    batchBefore: Double,
    trigger: Double,
    start: Double
) {
  def all: Seq[Double] = Seq(arrivedOld, backlog, batchBefore, trigger, start)
  def whole: Double = all.sum

  /** The same of records that had happened so long before the timestamp by which they came in. */
  def after(ms: Double): Waits = copy(arrivedOld = arrivedOld + ms)
}

object Waits {

  /**
   * @param ages  the age of the records at the time `atMs`
   * @param firstReadMs when the batch began to read
   * @param isAhead whether the clock had not come to some of them when they were read: such a record waits for nothing, and is dated later
   *                than it came. It arrives young
   * @return none without a record
   */
  def of(
      ages: LatencySummary,
      atMs: Long,
      admission: Admission,
      firstReadMs: Double,
      isAhead: Boolean
  ): Option[Waits] = ages.avg.map { age =>
    // How long before each bound the records came, on average. What came after it did not wait for it. The histogram is known
    // within 1 %, and the mean exactly: so is the sum, where all came before the first read.
    val before = admission.bounds(firstReadMs).map(bound => ages.meanBeyond(atMs - bound))
    val after = before.zip(before.tail).map { case (earlier, later) => later - earlier }
    val waits = Waits(before.head, after(0), after(1), after(2), after(3))
    if (isAhead) waits.after(age - (atMs - firstReadMs) - waits.whole) else waits
  }
}
