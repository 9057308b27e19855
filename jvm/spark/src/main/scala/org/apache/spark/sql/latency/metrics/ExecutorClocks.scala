package org.apache.spark.sql.latency.metrics

import scala.collection.mutable

import io.sparklatency.answer.ClockNote
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.time.ClockEstimate
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.PreciseTime
import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.apache.spark.sql.latency.recording.ClockQuestion

/**
 * What the driver knows of its executors' clocks. It learns from the exchanges that they begin, so it needs the plugin: Spark
 * itself tells when a task was launched and finished by the driver's clock, and never when it ran by the executor's.
 *
 * In local mode the driver is its own executor. Its clock is right by construction, and nothing is exchanged.
 *
 * Costs some tens of microseconds for an exchange, and about seven kilobytes for an executor. Thread-safe, one lock:
 * RPC answers, the listener's queue forgets, surfaces read.
 */
private[latency] final class ExecutorClocks(time: PreciseTime, source: DropwizardSource, isLocal: Boolean)
    extends SparkListener with Logging {
  private val estimates = mutable.LinkedHashMap.empty[String, ClockEstimate]
  private val warned = mutable.Set.empty[String]
  private val gone = mutable.LinkedHashMap.empty[String, Option[ClockOffset]] // when they went
  private var closed = false

  if (isLocal) source.addedClock(SparkContext.DRIVER_IDENTIFIER, () => Some(ClockOffset.Same))

  /** Answers a question, and learns from the exchange before. */
  def answer(question: ClockQuestion): AnyRef = {
    val received = time.both()
    learn(question)
    val correction = synchronized(estimates.get(question.executor)).flatMap(_.correction(time.steadyMicros()))
    ClockQuestion.answer(received.micros, time.micros(), received.steadyMicros, correction)
  }

  /** Of the executors that are there; the first that was heard of comes first. */
  def all: Seq[ExecutorClock] =
    if (isLocal) Seq(ExecutorClock(SparkContext.DRIVER_IDENTIFIER, ClockOffset.Same))
    else synchronized(estimates.keys.toList).flatMap(clock)

  /**
   * How far the times of an executor may be off that it has recorded, which corrects what is known. None where nothing is. An executor
   * may be gone before the batch ends that it was at work for.
   */
  def recorded(executor: String): Option[ClockOffset] =
    if (isLocal) Some(ClockOffset.Same)
    else clock(executor).map(_.offset).orElse(synchronized(gone.get(executor)).flatten).map(_.corrected)

  override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit = synchronized {
    val executor = removed.executorId
    val last = clock(executor).map(_.offset).orElse(gone.get(executor).flatten)
    forget(executor)
    // It may still ask, as one that is lost only to the driver does.
    gone(executor) = last
    if (gone.size > ExecutorClocks.GoneKept) gone -= gone.head._1
  }

  /** The application ends. What arrives later brings nothing back. */
  def close(): Unit = synchronized {
    closed = true
    estimates.keys.foreach(source.closedClock)
    if (isLocal) source.closedClock(SparkContext.DRIVER_IDENTIFIER)
  }

  private def clock(executor: String): Option[ExecutorClock] =
    synchronized(estimates.get(executor)).flatMap(_.at(time.steadyMicros())).map(ExecutorClock(executor, _))

  private def learn(question: ClockQuestion): Unit = question.before.foreach { exchange =>
    val executor = question.executor
    logDebug(s"executor $executor: $exchange")
    val isKnown = synchronized {
      val isKnown = !closed && !gone.contains(executor)
      if (isKnown) {
        if (!estimates.contains(executor)) source.addedClock(executor, () => clock(executor).map(_.offset))
        estimates(executor) = estimates.getOrElse(executor, ClockEstimate.Empty).add(exchange)
      }
      isKnown
    }
    if (isKnown) clock(executor).filter(ClockNote.isFar).foreach(warnOnce)
  }

  private def warnOnce(clock: ExecutorClock): Unit =
    if (synchronized(warned.add(clock.executor))) logWarning(ClockNote.text(clock))

  private def forget(executor: String): Unit = {
    warned -= executor
    if (estimates.remove(executor).nonEmpty) source.removedClock(executor)
  }
}

private object ExecutorClocks {
  val GoneKept = 1000
}
