package io.sparklatency.figures

/**
 * The end of a run, and what it showed last where no batch ends for minutes, or ever. When such a run ends, Spark gives its batch up, one
 * task after another, and with them goes what they had told. As long as no other batch follows, what was shown before is the last that is
 * known. Not thread-safe.
 */
private[figures] final class RunEnd {
  import RunEnd._

  private var endless = false

  /** When tasks of the batch were lost, and what was shown with them. */
  private var lost = Option.empty[(Long, QuerySnapshot)]
  private var lastShown = Option.empty[QuerySnapshot]
  private var hasCome = false

  /** Whether no batch of the run ends for minutes, or ever: as its plans tell, or its events. */
  def isWithoutBatches: Boolean = endless

  def stopped: Boolean = hasCome

  /** What is shown of a run that has ended; none of one that goes on, or that had batches. */
  def shown: Option[QuerySnapshot] = lastShown

  def withoutBatches(): Unit = endless = true

  /** Another batch follows, or this one was committed: nothing of it is lost. */
  def goOn(): Unit = lost = None

  /** Whether what is shown now goes with tasks of the batch that are about to be lost, and is not known from others. */
  def mayLose(nowMs: Long): Boolean = endless && !hasCome && known(nowMs).isEmpty

  /** @param shown with what those tasks had told */
  def lose(nowMs: Long, shown: QuerySnapshot): Unit = lost = Some(nowMs -> shown)

  /** @param now is shown, without what the lost tasks had told */
  def stop(nowMs: Long)(now: => QuerySnapshot): Unit = if (!hasCome) {
    if (endless) {
      val figures = known(nowMs).fold(now)(shown =>
        now.copy(nodes = shown.nodes, times = shown.times, markers = shown.markers)
      )
      lastShown = Some(figures.copy(oldestUncommittedMs = None)) // no commit is waited for
    }
    lost = None
    hasCome = true
  }

  private def known(nowMs: Long): Option[QuerySnapshot] =
    lost.collect { case (at, shown) if nowMs - at < LostWithinMs => shown }
}

private object RunEnd {

  /** Spark ends all tasks of a batch within this. A task that failed long before was run again. */
  private val LostWithinMs = 10000L
}
