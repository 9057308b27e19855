package io.sparklatency.figures

import java.io.ObjectInput
import java.io.ObjectOutput

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary

/**
 * What one attempt at a task recorded while it read a partition of a node once. A driver keeps many of these, so nothing that
 * follows from the rest is in it.
 *
 * @param planning the id of the accumulator that brought it
 * @param number   which reading of that task's it is
 * @param rest     what of it the task had not published while it ran
 * @param ages     of the same records, where the node is one at the end of a query
 * @param slice    when the node was at work
 * @param again    when it last was, where a later job has read the same again: that is of its work on the batch. Known on the driver alone
 */
final case class Reading(
    partition: Int,
    attempt: TaskAttempt,
    planning: Long,
    number: Int,
    summary: LatencySummary,
    rest: LatencySummary,
    ages: Option[Ages] = None,
    slice: TaskSlice = TaskSlice.Unwatched,
    again: Option[Reading.Work] = None
) {
  def work: Reading.Work = again.getOrElse(Reading.Work(attempt, slice))

  def id: ReadingId = ReadingId(planning, attempt.id, number, partition)

  /**
   * For the way from a task to its driver, where both have the same jar. About a hundred bytes, and its summaries. What readings of one
   * task share stands once in a stream. Java's own form of it is twice as large, and takes four times as long.
   */
  def writeTo(out: ObjectOutput): Unit = {
    out.writeObject(attempt)
    out.writeInt(partition)
    out.writeLong(planning)
    out.writeInt(number)
    Reading.write(summary, out)
    // As a rule nothing was published.
    out.writeBoolean(rest eq summary)
    if (rest ne summary) Reading.write(rest, out)
    out.writeBoolean(ages.nonEmpty)
    for (Ages(atMs, summary) <- ages) {
      out.writeLong(atMs)
      Reading.write(summary, out)
    }
    slice.writeTo(out)
  }
}

object Reading {

  /** What a task did at a node for one reading. */
  final case class Work(attempt: TaskAttempt, slice: TaskSlice)

  def readFrom(in: ObjectInput): Reading = {
    val attempt = in.readObject().asInstanceOf[TaskAttempt]
    val partition = in.readInt()
    val planning = in.readLong()
    val number = in.readInt()
    val summary = readSummary(in)
    val rest = if (in.readBoolean()) summary else readSummary(in)
    val ages = Option.when(in.readBoolean())(Ages(in.readLong(), readSummary(in)))
    Reading(partition, attempt, planning, number, summary, rest, ages, TaskSlice.readFrom(in))
  }

  private def write(summary: LatencySummary, out: ObjectOutput): Unit = {
    val bytes = summary.toBytes
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def readSummary(in: ObjectInput): LatencySummary = {
    val bytes = new Array[Byte](in.readInt())
    in.readFully(bytes)
    LatencySummary.fromBytes(bytes)
  }
}
