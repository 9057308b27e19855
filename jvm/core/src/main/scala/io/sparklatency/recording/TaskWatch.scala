package io.sparklatency.recording

import scala.annotation.tailrec

import io.sparklatency.time.Clock

/**
 * Watches the nodes of one task: when each began, when the last row had passed it, and for how long rows were under way to it.
 *
 * Spark takes row after row through the whole of a stage, so the nodes of a stage end together, and their ends do not tell who was
 * at work. But where a node has seen fewer rows than one before it, the operators between the two are at work. Another thread looks
 * at the numbers of rows again and again, so a row costs nothing. What it sees is put together on the driver, which knows which node
 * comes before which, and whether it lets as many rows pass.
 *
 * A task opens its nodes, gets ready, and only then asks for its first row. Where it tells so, its nodes are watched from there: that
 * Spark compiled code before is no node's work.
 *
 * Where another thread than the task's own reads rows for it, as for a Python function, two operators may be at work at once. The numbers
 * then do not tell which of them the others wait for, so no node counts as watched.
 *
 * Thread-safe, one short lock: the task opens and ends nodes, the other thread looks.
 *
 * @param beganAt by `System.nanoTime`: time before it does not count
 */
final class TaskWatch(clock: Clock, beganAt: Long = System.nanoTime()) {
  private var lookedAt = beganAt
  private var nodes = Vector.empty[Node]
  private var changes = 0L
  private var passed = Array.empty[Long] // what a look has found, node by node
  private var someEnded = false
  private var isReading = false
  private var overAt = Option.empty[Long]
  private var thread = Option.empty[Thread] // that came last, to open a node or to read
  private var isFed = false // whether several did

  /**
   * A node begins to read a partition. Nodes begin upstream first.
   *
   * @param rows    how many have come to it; asked by the thread that looks
   * @param isFirst whether it stands before those that have begun, and have not ended
   */
  def opened(rows: () => Long, isFirst: Boolean = false): Node = synchronized {
    val node = new Node(rows, if (isFirst) before() else next())
    if (someEnded) forgetOld(node)
    comes()
    nodes :+= node
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
    if (nanos > 0 && nodes.nonEmpty && seesAtOnce(TaskWatch.Tries)) add(nanos)
  }

  /** How long it has watched. */
  def nanos(now: Long): Long = now - beganAt

  /** Of a task that reads many partitions, one after another, only the last are of use. */
  private def forgetOld(next: Node): Unit = {
    val oldest = nodes.filterNot(_.hasEnded).map(_.opening).minOption.getOrElse(next.opening)
    nodes = nodes.filter(other => !other.hasEnded || other.ending > oldest)
    someEnded = nodes.exists(_.hasEnded)
  }

  // Looks come by the hundred each second, at each task, with twenty nodes each: no boxes, and no loop over pairs where none waits.
  @tailrec
  private def seesAtOnce(tries: Int): Boolean = {
    if (passed.length != nodes.size) passed = new Array[Long](nodes.size)
    for (i <- passed.indices) passed(i) = nodes(i).rows()
    var same = true
    for (i <- passed.indices) same &&= nodes(i).rows() == passed(i)
    same || tries > 1 && seesAtOnce(tries - 1)
  }

  private def add(nanos: Long): Unit = {
    var most = Long.MinValue
    for (i <- passed.indices) most = math.max(most, passed(i))
    for (i <- passed.indices) {
      val node = nodes(i)
      node.seen = passed(i)
      if (!node.hasEnded) {
        node.watched += nanos
        if (passed(i) < most && waits(node, passed(i))) node.waited += nanos
      }
    }
  }

  private def waits(node: Node, rows: Long): Boolean = {
    var found = false
    for (i <- passed.indices if !found) found = node.waitsFor(nodes(i), passed(i) - rows, rows)
    found
  }

  private def comes(): Unit = {
    val here = Thread.currentThread
    isFed ||= thread.exists(_ ne here)
    thread = Some(here)
  }

  private def next(): Long = {
    changes += TaskWatch.Step
    changes
  }

  private def before(): Long = nodes.filterNot(_.hasEnded).map(_.opening).minOption.fold(next())(_ - 1)

  /** One node while the task reads one partition of it. */
  final class Node private[TaskWatch] (
      private[TaskWatch] val rows: () => Long,
      private[TaskWatch] val opening: Long
  ) {
    private[TaskWatch] var ending = Long.MaxValue
    private[TaskWatch] var watched = 0L
    private[TaskWatch] var waited = 0L
    private[TaskWatch] var seen = -1L
    private val opened = clock.both()
    private var readAt = 0L
    private var endedAt = Option.empty[Long]

    /** When it began, by the clock in microseconds. The clock may be set meanwhile, so all else is counted from here. */
    def openedMicros: Long = opened.micros

    /**
     * The task asks for its first row, by this node. Only the first call at any node of the task counts. What was seen of its nodes
     * before does not.
     *
     * @param now by `System.nanoTime`
     */
    def reads(now: Long): Unit = TaskWatch.this.synchronized {
      if (!isReading) {
        isReading = true
        lookedAt = now
        nodes.foreach(_.begins())
      }
      comes()
    }

    private[TaskWatch] def begins(): Unit = {
      readAt = clock.steadyMicros() - opened.steadyMicros
      watched = 0
      waited = 0
    }

    /** How much later the task asked for its first row; 0 where it had done so before, or nothing tells. */
    def readMicros: Long = TaskWatch.this.synchronized(readAt)

    /** No more rows come. Only the first call counts. */
    def ended(): Unit = TaskWatch.this.synchronized {
      if (!hasEnded) {
        endedAt = Some(clock.steadyMicros() - opened.steadyMicros)
        ending = next()
        someEnded = true
      }
      comes()
    }

    /** How much later the last row had passed; none where nothing has told it. */
    def endedMicros: Option[Long] = TaskWatch.this.synchronized(endedAt)

    /** The task is over. Only the first call at any node of it counts: what is done with its figures then is not the task's work. */
    def over(): Unit = TaskWatch.this.synchronized {
      overAt = overAt.orElse(Some(clock.steadyMicros()))
    }

    /** How long ago it began, or until its task was over. */
    def micros: Long =
      TaskWatch.this.synchronized(overAt.getOrElse(clock.steadyMicros()) - opened.steadyMicros)

    /** For how long it was seen before its end, and for how long of that fewer rows had come to it than to another node. */
    def watchedNanos: Long = TaskWatch.this.synchronized(if (isFed) 0 else watched)
    def waitedNanos: Long = TaskWatch.this.synchronized(waited)

    /** How many rows had come when all nodes of the task were last seen at one moment; none before. */
    def seenRows: Option[Long] = TaskWatch.this.synchronized(Option.when(seen >= 0)(seen))

    private[TaskWatch] def hasEnded: Boolean = endedAt.nonEmpty

    /**
     * Whether rows that have passed the other are on their way here. Nodes begin upstream first, so one that began later is behind. One
     * that had ended before this began is of another partition. Where many rows have passed the other and none has come, something
     * between the two gathers them, a sort say. Then whoever is before the other is at work, until that has ended.
     */
    private[TaskWatch] def waitsFor(other: Node, lead: Long, passed: Long): Boolean =
      lead > 0 && other.opening < opening && other.ending > opening && (lead == 1 || passed > 0 || other.hasEnded)
  }
}

private object TaskWatch {
  val Tries = 3

  /** Room for nodes that begin last and stand before others. */
  val Step = 1000L
}
