package io.sparklatency.spark.base

import io.sparklatency.recording.RecordingLevel

/**
 * What an automatic node stands at, and the level at which it is recorded. Constants, for any thread. A node that its level
 * leaves out costs nothing.
 *
 * @param name as in the setting `spark.sparklatency.auto`
 */
sealed abstract class NodeRole(val name: String, val level: RecordingLevel) {
  override def toString: String = name
}

/** All roles there are. */
object NodeRole {

  /** A source, as its records are read. */
  case object Source extends NodeRole("source", RecordingLevel.Info)

  /** The end of the query, before the write. */
  case object Terminal extends NodeRole("terminal", RecordingLevel.Info)

  /** What an operator that keeps state gives out. */
  case object Stateful extends NodeRole("stateful", RecordingLevel.Trace)

  val all: Seq[NodeRole] = Seq(Source, Terminal, Stateful)
}
