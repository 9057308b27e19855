package io.sparklatency.recording

import io.sparklatency.time.Clock

/**
 * Watches the nodes of one task: when each began, when the last row had passed it, and for how long rows were under way to it.
 *
 * Spark takes row after row through the whole of a stage, so the nodes of a stage end together, and their ends do not tell who was
 * at work. But where a node has seen fewer rows than one before it, the operators between the two are at work. Another thread looks
 * at the numbers of rows again and again, so a row costs nothing. What it sees is put together on the driver, which knows which node
 * comes before which, and whether it lets as many rows pass.
 *
 * Thread-safe, one short lock: the task opens and ends nodes, the other thread looks.
 */
final class TaskWatch(clock: Clock) {
  private val beganAt = System.nanoTime()
  private var lookedAt = beganAt
  private var nodes = Vector.empty[Node]
  private var changes = 0

  /**
   * A node begins to read a partition.
   *
   * @param rows how many have come to it; asked by the thread that looks
   */
  def opened(rows: () => Long): Node = synchronized {
    val node = new Node(rows)
    // Of a task that reads many partitions, one after another, only the last are of use.
    val oldest = nodes.filterNot(_.hasEnded).map(_.opening).minOption.getOrElse(node.opening)
    nodes = nodes.filter(other => !other.hasEnded || other.ending > oldest) :+ node
    node
  }

  /**
   * Looks at all nodes, for the time since it last did. If rows pass meanwhile, the numbers are of different moments: then it looks
   * again, and after three times leaves it.
   *
   * @param now by `System.nanoTime`
   */
  def look(now: Long): Unit = synchronized {
    val nanos = now - lookedAt
    lookedAt = now
    if (nanos > 0) Iterator.fill(TaskWatch.Tries)(rowsAtOnce).collectFirst { case Some(rows) => rows }
      .foreach(add(_, nanos))
  }

  /** How long it has watched. */
  def nanos(now: Long): Long = now - beganAt

  private def rowsAtOnce: Option[Vector[Long]] = {
    val before = nodes.map(_.rows())
    Option.when(nodes.map(_.rows()) == before)(before)
  }

  private def add(rows: Vector[Long], nanos: Long): Unit = {
    val all = nodes.zip(rows)
    for ((node, passed) <- all) node.seen = Some(passed)
    for ((node, passed) <- all if !node.hasEnded) {
      node.watched += nanos
      if (all.exists { case (other, ahead) => node.waitsFor(other, ahead - passed, passed) })
        node.waited += nanos
    }
  }

  private def next(): Int = {
    changes += 1
    changes
  }

  /** One node while the task reads one partition of it. */
  final class Node private[TaskWatch] (private[TaskWatch] val rows: () => Long) {
    private[TaskWatch] val opening = next()
    private[TaskWatch] var ending = Int.MaxValue
    private[TaskWatch] var watched = 0L
    private[TaskWatch] var waited = 0L
    private[TaskWatch] var seen = Option.empty[Long]
    private val openedAt = clock.steadyMicros()
    private var endedAt = Option.empty[Long]

    /** When it began, by the clock in microseconds. The clock may be set meanwhile, so all else is counted from here. */
    val openedMicros: Long = clock.micros()

    /** No more rows come. Only the first call counts. */
    def ended(): Unit = TaskWatch.this.synchronized {
      if (!hasEnded) {
        endedAt = Some(clock.steadyMicros() - openedAt)
        ending = next()
      }
    }

    /** How much later the last row had passed; none where nothing has told it. */
    def endedMicros: Option[Long] = TaskWatch.this.synchronized(endedAt)

    /** How long ago it began. */
    def micros: Long = clock.steadyMicros() - openedAt

    /** For how long it was seen before its end, and for how long of that fewer rows had come to it than to another node. */
    def watchedNanos: Long = TaskWatch.this.synchronized(watched)
    def waitedNanos: Long = TaskWatch.this.synchronized(waited)

    /** How many rows had come when all nodes of the task were last seen at one moment; none before. */
    def seenRows: Option[Long] = TaskWatch.this.synchronized(seen)

    private[TaskWatch] def hasEnded: Boolean = endedAt.nonEmpty

    /**
     * Whether rows that have passed the other are on their way here. Nodes begin upstream first, so one that began later is behind. One that had ended before this began is of another
     * partition. Where many rows have passed the other and none has come, something between the two gathers them, a sort say.
     * Then whoever is before the other is at work, until that has ended.
     */
    private[TaskWatch] def waitsFor(other: Node, lead: Long, passed: Long): Boolean =
      lead > 0 && other.opening < opening && other.ending > opening && (lead == 1 || passed > 0 || other.hasEnded)
  }
}

private object TaskWatch {
  val Tries = 3
}
