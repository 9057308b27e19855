package io.sparklatency.figures

import java.io.ObjectInput
import java.io.ObjectOutput

import io.sparklatency.time.ClockOffset

/**
 * When a node of a task was at work on one partition, by the clock of its executor. A driver keeps many of these.
 *
 * @param openedMicros when the task opened it, in microseconds since the epoch
 * @param endedMs      how much later its last row had passed
 * @param overMs       how much later the task was over
 * @param watchedMs    for how long the node was seen before its end
 * @param waitedMs     for how long of that fewer rows had come to it than to another node of the task
 * @param readMs       how much later than that the task asked for its first row; 0 of a node that it opened after that
 */
final case class TaskSlice(
    executor: String,
    openedMicros: Long,
    endedMs: Float,
    overMs: Float,
    watchedMs: Float,
    waitedMs: Float,
    readMs: Float = 0
) {

  def isWatched: Boolean = this ne TaskSlice.Unwatched

  // By the driver's clock as far as it is known, in microseconds since the epoch.
  def opened(offset: Option[ClockOffset]): Long = openedMicros - offset.fold(0L)(_.micros)
  def read(offset: Option[ClockOffset]): Long = opened(offset) + math.round(readMs * 1000.0)
  def ended(offset: Option[ClockOffset]): Long = opened(offset) + math.round(endedMs * 1000.0)
  def over(offset: Option[ClockOffset]): Long = opened(offset) + math.round(overMs * 1000.0)

  private[figures] def writeTo(out: ObjectOutput): Unit = {
    out.writeBoolean(isWatched)
    if (isWatched) {
      out.writeObject(executor)
      out.writeLong(openedMicros)
      Seq(endedMs, overMs, watchedMs, waitedMs, readMs).foreach(out.writeFloat)
    }
  }

}

object TaskSlice {

  /** Of a task that goes on as long as its query, and of rows that do not leave the node. */
  val Unwatched: TaskSlice = TaskSlice("", 0, 0, 0, 0, 0)

  @volatile private var lastName = "" -> "" // of an executor, as it was read, and that which all share

  /** Those of one task have read its executor's name as one, so only the first of them asks for the one that all share. */
  private def shared(read: String): String = {
    val (asRead, shared) = lastName
    if (read eq asRead) shared
    else {
      val name = read.intern
      lastName = read -> name
      name
    }
  }

  /** All that come from one executor share its name. */
  private[figures] def readFrom(in: ObjectInput): TaskSlice =
    if (!in.readBoolean()) Unwatched
    else TaskSlice(
      shared(in.readObject().asInstanceOf[String]),
      in.readLong(),
      in.readFloat(),
      in.readFloat(),
      in.readFloat(),
      in.readFloat(),
      in.readFloat()
    )
}
