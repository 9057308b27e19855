package org.apache.spark.sql.latency.recording

import java.io.ObjectInputStream
import java.io.ObjectOutputStream

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.MarkPlace
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey

/**
 * What the tasks of a mark are told.
 *
 * @param hasBatches whether tasks end with their batch: not so in real-time and continuous mode
 * @param reference  when the ages were begun to be taken from which those at the commit are made
 * @param place      where in the plan the mark stands, if tasks are shown one by one
 */
private final case class MarkSettings(
    owner: MarkOwner,
    intake: Int,
    publishMs: Long,
    watermark: Option[Long],
    figures: TaskFigures,
    hasBatches: Boolean,
    reference: Option[Long] = None,
    place: Option[MarkPlace] = None
) {

  /**
   * What the marks of a plan share as one object stands once in a stream: the query's name and the figures, not the ids of a streaming
   * query.
   */
  def writeTo(out: ObjectOutputStream): Unit = {
    out.writeObject(owner.key.query)
    out.writeObject(owner.key.node)
    out.writeObject(owner.queryId.orNull)
    out.writeObject(owner.runId.orNull)
    out.writeByte(Measure.all.indexOf(owner.measure))
    out.writeInt(intake)
    out.writeLong(publishMs)
    write(watermark, out)(out.writeLong)
    out.writeObject(figures)
    out.writeBoolean(hasBatches)
    write(reference, out)(out.writeLong)
    write(place, out) { at =>
      out.writeInt(at.subtopology)
      out.writeBoolean(at.isLast)
    }
  }

  private def write[A](known: Option[A], out: ObjectOutputStream)(write: A => Unit): Unit = {
    out.writeBoolean(known.nonEmpty)
    known.foreach(write)
  }
}

private object MarkSettings {
  def readFrom(in: ObjectInputStream): MarkSettings = {
    def text() = in.readObject().asInstanceOf[String]
    def known[A](read: => A) = Option.when(in.readBoolean())(read)
    val key = NodeKey(text(), text())
    val owner = MarkOwner(key, Option(text()), Option(text()), Measure.all(in.readByte().toInt))
    MarkSettings(
      owner,
      in.readInt(),
      in.readLong(),
      known(in.readLong()),
      in.readObject().asInstanceOf[TaskFigures],
      in.readBoolean(),
      known(in.readLong()),
      known(MarkPlace(in.readInt(), in.readBoolean()))
    )
  }
}
