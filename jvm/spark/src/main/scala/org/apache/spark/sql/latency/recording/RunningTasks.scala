package org.apache.spark.sql.latency.recording

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.TaskContext
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.SQLExecution

/**
 * The recorders of the tasks that run in this process. In real-time and continuous mode a task runs for minutes or for ever.
 * Its records are on their way to the driver within a second: directly where the driver is this process, else by the plugin's
 * channel. Without the plugin an executor sends nothing while a task runs, and its figures come when the task ends.
 *
 * A recorder publishes in the thread that reads rows. For recorders that have fallen silent a daemon thread does it: it looks
 * at all of them four times a second, and ends ten seconds after the last task. Up to every two milliseconds it also looks which
 * node of each task is at work: see `TaskWatch`. A record costs nothing here. A publication costs a message of a few hundred
 * bytes, a look about a microsecond for each task. A task that runs for long also reports what its nodes did, all in one message of
 * about fifty bytes a node: each second where no batch ends, else as often as its recorders publish.
 *
 * Thread-safe. Threads that read rows and the daemon thread call it. The application and the plugin set where publications
 * go.
 */
object RunningTasks extends Logging {
  private val PollNanos = 250L * 1000 * 1000
  private val IdleNanos = 40 * PollNanos
  private val Young = 4 * PollNanos

  private val recorders = ConcurrentHashMap.newKeySet[LatencyRecorder]
  // By what a task's contexts share: in a barrier stage it begins with one and ends with another.
  private val watches = new ConcurrentHashMap[TaskMetrics, WatchedTask]
  @volatile private var driver: Option[Receiver] = None
  @volatile private var channel: Option[AnyRef => Unit] = None
  private var polling = false
  @volatile private var rests = true // until a task begins, or for longer than two milliseconds
  private val warned = new AtomicBoolean

  /** Says that the driver is this process. It takes parts and reports as they are. */
  private[latency] def receiveBy(parts: PublishedPart => Unit, reports: TaskReport => Unit): Unit = {
    stopReceiving()
    driver = Some(new Receiver(parts, reports))
  }

  /** An application has ended. Some of its tasks may go on, beside those of the next: nobody asks for their figures. */
  private[latency] def stopReceiving(): Unit = {
    driver = None
    recorders.clear()
    watches.clear()
  }

  /** The driver of the tasks that begin now, if it is this process. */
  private[recording] def receiver: Option[Receiver] = driver

  /** The plugin of this executor says how messages go to the driver. Of a new way it is said anew that it fails. */
  def sendBy(send: AnyRef => Unit): Unit = {
    channel = Some(send)
    warned.set(false)
  }

  def stopSending(): Unit = channel = None

  def opened(recorder: LatencyRecorder): Unit = {
    recorders.add(recorder)
    startPolling()
  }

  /** The watch over the nodes of a task, which looks at them as long as the task runs. */
  private[recording] def watch(
      task: TaskContext,
      run: Option[String],
      hasBatches: Boolean,
      everyMillis: Long
  ): WatchedTask =
    Option(watches.get(task.taskMetrics())).getOrElse {
      val made =
        new WatchedTask(attempt(task), run, isInExecution(task), hasBatches, everyMillis)
      val there = Option(watches.putIfAbsent(task.taskMetrics(), made))
      wake()
      there.getOrElse(made)
    }

  private[recording] def attempt(task: TaskContext): TaskAttempt =
    TaskAttempt(task.stageId(), task.partitionId(), task.taskAttemptId())

  private[recording] final class Receiver(val parts: PublishedPart => Unit, val reports: TaskReport => Unit)

  /** Another recorder of the same task goes on with what it reads. */
  private[recording] def replaced(recorder: LatencyRecorder): Unit = {
    recorders.remove(recorder)
    ()
  }

  /** The task is over. */
  def closed(recorder: LatencyRecorder, task: TaskContext): Unit = {
    recorders.remove(recorder)
    watches.remove(task.taskMetrics())
    ()
  }

  def isEndless(task: TaskContext): Boolean = task.getLocalProperty("__is_continuous_processing") == "true"

  /**
   * Called in the thread of a task, or in the daemon thread, with the recorder's lock held. A failure of ours must not fail
   * the task, so it is logged once for each channel.
   *
   * @param receiver that of when the task began
   */
  private[recording] def publish(
      part: PublishedPart,
      task: TaskContext,
      figures: TaskFigures,
      receiver: Option[Receiver]
  ): Unit =
    try {
      figures.add(part.owner, part.reading.planning, part.task, part.summary)
      if (isInExecution(task) && receiver == driver) receiver match {
        case Some(here) => here.parts(part)
        case None => channel.foreach(_.apply(PublishedMessage(part)))
      }
    } catch { case OurFailure(e) => warnOnce(e) }

  /** What is read outside an execution has no end at which the driver could put it right. */
  private def isInExecution(task: TaskContext): Boolean =
    task.getLocalProperty(SQLExecution.EXECUTION_ID_KEY) != null

  private def report(report: TaskReport): Unit = driver match {
    case Some(receiver) => receiver.reports(report)
    case None => channel.foreach(_.apply(ReportMessage(report)))
  }

  private def warnOnce(e: Throwable): Unit =
    if (warned.compareAndSet(false, true))
      logWarning("Figures of running tasks do not reach the driver before the tasks end.", e)

  private def startPolling(): Unit = synchronized {
    if (!polling) {
      polling = true
      val thread = new Thread(() => pollOrGiveUp(), "sparklatency-running-tasks")
      thread.setDaemon(true)
      thread.setContextClassLoader(null) // a task's would be kept alive
      thread.start()
    }
  }

  /** What nobody can go on from, as memory that has run out, ends this thread. The next task begins another. */
  private def pollOrGiveUp(): Unit =
    try poll()
    catch {
      case fatal: Throwable =>
        synchronized { polling = false }
        throw fatal
    }

  private def poll(): Unit = {
    var lastPoll = System.nanoTime()
    var lastTask = lastPoll
    while (goOn(System.nanoTime() - lastTask)) {
      pause()
      val now = System.nanoTime()
      try {
        watches.values.forEach { task =>
          task.watch.look(System.nanoTime())
          task.reportIfDue(now).foreach(report)
        }
        // One that began right now may not have its recorder yet.
        if (recorders.isEmpty) watches.values.removeIf(_.watch.nanos(now) > Young) else lastTask = now
        if (now - lastPoll >= PollNanos) {
          lastPoll = now
          recorders.forEach(_.publishIfSilent())
        }
      } catch { case OurFailure(e) => warnOnce(e) }
    }
  }

  /** Looks every two milliseconds while a task is young. What is seen of a long one is exact enough with fewer looks. */
  private def pause(): Unit = synchronized {
    val now = System.nanoTime()
    val young = watches.values.stream.anyMatch(_.watch.nanos(now) < Young)
    rests = !young
    wait(if (young) 2L else if (watches.isEmpty) PollNanos / 1000000 else 10L)
  }

  /** A task begins: it is young. One of many short tasks finds the thread awake. */
  private def wake(): Unit = if (rests) synchronized(notifyAll())

  private def goOn(idleNanos: Long): Boolean = synchronized {
    polling = idleNanos < IdleNanos || !recorders.isEmpty
    polling
  }
}
