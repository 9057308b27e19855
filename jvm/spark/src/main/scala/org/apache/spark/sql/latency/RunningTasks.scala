package org.apache.spark.sql.latency

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import io.sparklatency.LatencyRecorder
import io.sparklatency.LatencySummary
import io.sparklatency.Measure
import io.sparklatency.NodeKey
import io.sparklatency.ReadingId
import org.apache.spark.SparkContext
import org.apache.spark.SparkEnv
import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.SQLExecution

/**
 * The recorders of the tasks that run in this process. In real-time and continuous mode a task runs for minutes or for ever:
 * what it records is on its way to the driver within a second, by the plugin's channel, or directly where the driver is here.
 */
object RunningTasks extends Logging {
  private val PollMs = 250
  private val IdlePolls = 40

  private val recorders = ConcurrentHashMap.newKeySet[LatencyRecorder]
  @volatile private var channel: Option[AnyRef => Unit] = None
  private var polling = false
  private val warned = new AtomicBoolean

  /** Called by the plugin of this executor. */
  def sendBy(send: AnyRef => Unit): Unit = channel = Some(send)

  def stopSending(): Unit = channel = None

  def opened(recorder: LatencyRecorder): Unit = {
    recorders.add(recorder)
    startPolling()
  }

  def closed(recorder: LatencyRecorder): Unit = { recorders.remove(recorder); () }

  /** A failure of ours must not fail the task, in whose thread this may be. */
  def publish(
      owner: MarkOwner,
      reading: ReadingId,
      task: TaskContext,
      part: LatencySummary,
      oldestMs: Option[Long]
  ): Unit =
    try {
      ExecutorFigures.add(owner, part)
      val endless = task.getLocalProperty("__is_continuous_processing") == "true"
      val published = PublishedPart(owner, reading, endless, part, oldestMs)
      // What is read outside an execution has no end at which the driver could put it right.
      if (task.getLocalProperty(SQLExecution.EXECUTION_ID_KEY) == null) ()
      else if (SparkEnv.get.executorId == SparkContext.DRIVER_IDENTIFIER) LatencyTracker.receive(published)
      else channel.foreach(_.apply(published.toMessage))
    } catch { case NonFatal(e) => warnOnce(e) }

  private def warnOnce(e: Throwable): Unit =
    if (warned.compareAndSet(false, true))
      logWarning("figures of running tasks do not reach the driver before their end", e)

  private def startPolling(): Unit = synchronized {
    if (!polling) {
      polling = true
      val thread = new Thread(() => poll(), "sparklatency-running-tasks")
      thread.setDaemon(true)
      thread.setContextClassLoader(null) // a task's would be kept alive
      thread.start()
    }
  }

  private def poll(): Unit = {
    var idle = 0
    while (goOn(idle)) {
      Thread.sleep(PollMs.toLong)
      idle = if (recorders.isEmpty) idle + 1 else 0
      try recorders.forEach(_.publishIfSilent())
      catch { case NonFatal(e) => warnOnce(e) }
    }
  }

  private def goOn(idle: Int): Boolean = synchronized {
    polling = idle < IdlePolls || !recorders.isEmpty
    polling
  }
}

/**
 * What a running task has recorded since it published last.
 *
 * @param endless  the task belongs to no batch: it runs as long as its query
 * @param oldestMs the timestamp of the oldest of these records
 */
private[latency] final case class PublishedPart(
    owner: MarkOwner,
    reading: ReadingId,
    endless: Boolean,
    summary: LatencySummary,
    oldestMs: Option[Long]
) {

  /** Only of the JDK's own types: Spark may read it with a class loader that does not know ours. */
  def toMessage: Array[AnyRef] = Array(
    owner.key.query,
    owner.key.node,
    owner.measure.name,
    owner.queryId.orNull,
    owner.runId.orNull,
    Long.box(reading.planning),
    Long.box(reading.task),
    Int.box(reading.number),
    Boolean.box(endless),
    summary.toBytes,
    oldestMs.map(Long.box).orNull
  )
}

private[latency] object PublishedPart {

  def of(message: AnyRef): Option[PublishedPart] = message match {
    case Array(
          query: String,
          node: String,
          measure: String,
          queryId,
          runId,
          planning: java.lang.Long,
          task: java.lang.Long,
          number: Integer,
          endless: java.lang.Boolean,
          summary: Array[Byte],
          oldestMs
        ) =>
      Measure.all.find(_.name == measure).map(measure =>
        PublishedPart(
          MarkOwner(
            NodeKey(query, node),
            Option(queryId).map(_.toString),
            Option(runId).map(_.toString),
            measure
          ),
          ReadingId(planning, task, number),
          endless,
          LatencySummary.fromBytes(summary),
          Option(oldestMs).map(_.toString.toLong)
        )
      )
    case _ => None
  }
}
