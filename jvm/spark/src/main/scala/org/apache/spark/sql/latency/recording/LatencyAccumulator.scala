package org.apache.spark.sql.latency.recording

import java.io.ObjectInputStream
import java.io.ObjectOutputStream

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkPlace
import io.sparklatency.figures.Measure
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.Reading
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.Retries
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.recording.TaskWatch
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.time.Clock
import io.sparklatency.time.ManualClock
import io.sparklatency.time.WallClock
import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.compat.OutOfHeartbeats
import org.apache.spark.util.AccumulatorV2

/**
 * Brings what the tasks of one planned mark recorded to the driver. On the driver one [[Reading]] of each partition stands,
 * whatever was retried: see [[Retries]].
 *
 * A partition is one of the mark's own RDD. That need not be the task's: a task that coalesces, or one side of a cartesian
 * product, reads several partitions, or one that other tasks read too. So a task has a recorder for each time that it reads a
 * partition.
 *
 * Costs a task a recorder for each reading (1 to 120 KB, see [[LatencyRecorder]]), about 3 µs to make and to seal one, and at
 * most three summaries of a few hundred bytes with the task's result. It goes to a task with what is planned, and comes back with
 * the readings alone, in a form of its own: there and back takes 10 µs, in Java's it took three times as long. Costs the driver
 * about 300 bytes a partition until [[take]]. A batch of 10,000 partitions at twenty nodes is 64 MB. After [[take]] only the
 * partitions' numbers are left.
 *
 * In a task the task's thread calls [[open]], and the recorder is sealed when the task completes. On the driver Spark's
 * scheduler adds what tasks return, the listener's thread takes it, and threads that read figures ask for [[oldest]]. A
 * heartbeat never carries it: another thread would serialize it while the task writes.
 *
 * @param intake     which input of the node's operator the mark stands on. A join has several, and the partitions of each
 *                   count
 * @param publishMs  how long a task runs before it publishes, and how long before it publishes again
 * @param watermark  in milliseconds: ages are counted from it, where it is given, and not from the clock. It stands still
 *                   within a batch
 * @param figures    shows in this process what its tasks record
 * @param hasBatches whether tasks end with their batch: not so in real-time and continuous mode
 */
final class LatencyAccumulator private (@transient private var settings: MarkSettings)
    extends AccumulatorV2[Reading, Map[Int, Reading]] with OutOfHeartbeats[Reading, Map[Int, Reading]]
    with JudgedMark with Logging {
  import LatencyAccumulator._

  @transient @volatile private var recorders = Vector.empty[Opened]
  @transient private var lastReader: AnyRef = _ // of those that open once
  @transient @volatile private var readings = Map.empty[Int, Reading]
  @transient private var taken = Set.empty[Int]
  @transient private var earlier = Map.empty[String, TaskSlice] // by executor

  def this(
      owner: MarkOwner,
      intake: Int = 0,
      publishMs: Long = LatencyRecorder.PublishMs,
      watermark: Option[Long] = None,
      figures: TaskFigures = TaskFigures.Nowhere,
      hasBatches: Boolean = true
  ) = this(MarkSettings(owner, intake, publishMs, watermark, figures, hasBatches))

  /** Not of one that has come back with a task's result. */
  def owner: MarkOwner = settings.owner

  /** Likewise. Which input of the node's operator the mark stands on. */
  def intake: Int = settings.intake

  override protected def refer(): Unit =
    settings = settings.copy(reference = settings.reference.orElse(Some(clock.millis())))

  override protected def referNoMore(): Unit = settings = settings.copy(reference = None)

  /**
   * Where in the plan the mark stands, if tasks are to be shown one by one. The planning thread calls it, before there are tasks;
   * the first call stands, because it knows most of the plan.
   */
  def placed(at: MarkPlace): Unit = settings = settings.copy(place = settings.place.orElse(Some(at)))

  /**
   * A recorder for one more reading of `partition`. Generated code and the interpreter ask for it before the first row, upstream first.
   */
  def open(partition: Int): LatencyRecorder = open(partition, isFirst = false)

  /**
   * The same for the code of a branch of a union, which asks as its rows are asked for: downstream first, and when nodes behind the union
   * have.
   */
  def openFirst(partition: Int): LatencyRecorder = open(partition, isFirst = true)

  private def open(partition: Int, isFirst: Boolean): LatencyRecorder = {
    val task = Option(TaskContext.get())
    if (recorders.isEmpty) task.foreach(_.addTaskCompletionListener[Unit](seal(_)))
    // In continuous mode a task reads its partition anew with each epoch, for ever.
    val again = task.filter(RunningTasks.isEndless).map(_ => recorders.indexWhere(_.partition == partition))
    val before = again.filter(_ >= 0)
    for (t <- task; number <- before) finish(t, number)
    val number = before.getOrElse(recorders.size)
    val receiver = RunningTasks.receiver
    val recorder = new LatencyRecorder(
      clock,
      (part, oldest) => task.foreach(publish(_, partition, number, part, oldest, receiver)),
      settings.publishMs * 1000 * 1000,
      settings.reference,
      // Rows wait inside a task there: a reading of the clock says nothing about the next row's time.
      readEveryRow = !hasBatches
    )
    if (task.nonEmpty) RunningTasks.opened(recorder)
    val watched =
      task.filter(_ => isWatched).map(RunningTasks.watch(_, owner.runId, hasBatches, reportMs))
    if (!hasBatches) this.opened(partition).foreach(_.ended())
    val opened = Opened(
      partition,
      recorder,
      watched.map(_.attempt),
      watched.map(_.opened(id, partition, () => recorder.rows, isFirst))
    )
    recorders = if (before.isEmpty) recorders :+ opened else recorders.updated(number, opened)
    // A thread that reads for the task's may come when that is over, and nobody will close what it opens.
    task.filter(_.isCompleted()).foreach(RunningTasks.closed(recorder, _))
    recorder
  }

  /**
   * The same for a filter's code, which is generated once for each branch of a union, and so asks as often before it reads one of them.
   * Continuous mode has no unions.
   *
   * @param reader what the code belongs to: another one reads the partition by itself, also where a task reads both at once
   */
  def openOnce(partition: Int, reader: AnyRef): LatencyRecorder = {
    val isEndless = Option(TaskContext.get()).exists(RunningTasks.isEndless)
    val isSame = !isEndless && (reader eq lastReader)
    lastReader = reader
    def isFresh(one: Opened) = isSame && one.partition == partition && one.recorder.rows == 0
    recorders.lastOption.filter(isFresh).fold(open(partition))(_.recorder)
  }

  /** Publishes what is left of a reading that another one goes on with, and lets go of it. */
  private def finish(task: TaskContext, number: Int): Unit = {
    val Opened(partition, recorder, _, _) = recorders(number)
    RunningTasks.replaced(recorder)
    val (_, rest) = recorder.seal()
    if (!rest.isEmpty) publish(task, partition, number, rest, None, RunningTasks.receiver)
  }

  /**
   * The first row of a partition is asked for: until then the task got ready. May be called by a thread that reads for the task's, and
   * where none was opened.
   */
  def reads(partition: Int): Unit = opened(partition).foreach(_.reads(System.nanoTime()))

  /**
   * The last row has passed that this recorder takes. Where a task reads a partition twice at once the other one may go on. May be called
   * again, and by a thread that reads for the task's.
   */
  def ended(recorder: LatencyRecorder): Unit =
    recorders.findLast(_.recorder eq recorder).flatMap(_.node).foreach(_.ended())

  private def opened(partition: Int): Option[TaskWatch#Node] =
    recorders.findLast(_.partition == partition).flatMap(_.node)

  /** Only where rows leave the node. */
  private[recording] def isWatched: Boolean = owner.measure == Measure.E2ELatency

  private[latency] def hasBatches: Boolean = settings.hasBatches

  /** Where no batch ends, windows of a second stand for batches. */
  private def reportMs: Long = if (hasBatches) settings.publishMs else ReportMs

  private def publish(
      task: TaskContext,
      partition: Int,
      number: Int,
      part: LatencySummary,
      oldest: Option[Long],
      receiver: Option[RunningTasks.Receiver]
  ): Unit = {
    val reading = ReadingId(id, task.taskAttemptId(), number, partition)
    val endless = RunningTasks.isEndless(task)
    RunningTasks.publish(
      PublishedPart(owner, reading, endless, part, oldest, placeIn(task), settings.intake),
      task,
      settings.figures,
      receiver
    )
  }

  private def placeIn(task: TaskContext) = settings.place.map(_.in(task.partitionId()))

  private def clock: Clock = settings.watermark.fold[Clock](WallClock)(new ManualClock(_))

  override def add(reading: Reading): Unit = synchronized {
    val other = readings.get(reading.partition)
    val standing = other.fold(reading)(Retries.standing(_, reading))
    readings += reading.partition -> standing
    for (one <- other; work <- Seq(one, reading).map(_.work) if work != standing.work) gone(work.slice)
  }

  private def gone(slice: TaskSlice): Unit = if (slice.isWatched) {
    if (earlier.get(slice.executor).forall(slice.read(None) < _.read(None)))
      earlier += slice.executor -> slice
  }

  /** Of each executor the first reading of those that do not stand: what read them was at work before. */
  def takeEarlier(): Iterable[TaskSlice] = synchronized {
    val slices = earlier.values
    earlier = Map.empty
    slices
  }

  override def merge(other: AccumulatorV2[Reading, Map[Int, Reading]]): Unit = other.value.values.foreach(add)

  override def value: Map[Int, Reading] = readings

  /** Spark registers an accumulator with its task before it has read it to the end, and asks from a heartbeat. */
  override def isZero: Boolean = readings == null || readings.isEmpty
  override def reset(): Unit = {
    readings = Map.empty
    earlier = Map.empty
  }

  override def copy(): LatencyAccumulator = {
    val other = new LatencyAccumulator(settings)
    other.readings = readings
    other.earlier = earlier
    other
  }

  /** Whether all that came in has been given out. So it is with a cached plan that another execution reads again. */
  def isSpent: Boolean = synchronized(readings.isEmpty && taken.nonEmpty)

  /** The timestamp of the oldest record that was not given out. None where no ages are taken. Looks at each partition. */
  def oldest: Option[Long] =
    readings.values.flatMap(_.ages).flatMap(ages => ages.summary.max.map(ages.atMs - _)).minOption

  /** What would be given out, which stays. */
  def peek: Iterable[Reading] = synchronized((readings -- taken).values.toVector)

  /** Gives out the readings of partitions that were not given out before, and keeps only the partitions' numbers. */
  def take(): Iterable[Reading] = synchronized {
    val fresh = peek
    taken ++= fresh.map(_.partition)
    readings = Map.empty
    fresh
  }

  /** Says itself which way it goes, for Spark changes its own flag as it reads. A heartbeat may ask before all of it was read. */
  private def writeObject(out: ObjectOutputStream): Unit = {
    val goesToTask = isAtDriverSide
    out.writeBoolean(goesToTask)
    if (goesToTask) settings.writeTo(out)
    else {
      val brought = Option(readings).getOrElse(Map.empty)
      out.writeInt(brought.size)
      brought.values.foreach(_.writeTo(out))
    }
  }

  private def readObject(in: ObjectInputStream): Unit = {
    recorders = Vector.empty
    earlier = Map.empty
    if (in.readBoolean()) {
      settings = MarkSettings.readFrom(in)
      readings = Map.empty
    } else
      readings = Iterator.fill(in.readInt())(Reading.readFrom(in)).map(read => read.partition -> read).toMap
  }

  /** An exception in a completion listener fails the task. A failure of ours must not, so it is only logged. */
  private def seal(task: TaskContext): Unit =
    recorders.zipWithIndex.foreach { case (Opened(partition, recorder, attempt, node), number) =>
      RunningTasks.closed(recorder, task)
      node.foreach(_.over())
      try {
        val (summary, rest) = recorder.seal()
        val slice = node.filter(_ => hasBatches).fold(TaskSlice.Unwatched)(WatchedTask.slice)
        val made = attempt.getOrElse(RunningTasks.attempt(task))
        add(Reading(partition, made, id, number, summary, rest, recorder.agesOfAll, slice))
        settings.figures.add(owner, id, placeIn(task), rest)
      } catch {
        case OurFailure(e) =>
          logWarning(s"latencies of node '${owner.key.node}' in task ${task.taskAttemptId()} are lost", e)
      }
    }
}

private object LatencyAccumulator {
  private val ReportMs = 1000L

  /**
   * @param attempt all nodes of a task share it, and so they do on the driver
   * @param node    none where it is not watched
   */
  private final case class Opened(
      partition: Int,
      recorder: LatencyRecorder,
      attempt: Option[TaskAttempt],
      node: Option[TaskWatch#Node]
  )
}
