package io.sparklatency.recording

/** How much is recorded, in Kafka's order: a node is recorded when its level does not exceed the level that is set. */
sealed abstract class RecordingLevel(val name: String, private val detail: Int) {
  def records(node: RecordingLevel): Boolean = node.detail <= detail
  override def toString: String = name
}

object RecordingLevel {

  /** Switches everything off; no node has it. */
  case object None extends RecordingLevel("NONE", -1)
  case object Info extends RecordingLevel("INFO", 0)
  case object Debug extends RecordingLevel("DEBUG", 1)
  case object Trace extends RecordingLevel("TRACE", 2)

  val all: Seq[RecordingLevel] = Seq(None, Info, Debug, Trace)

  /** The levels that a node can have. */
  val ofNodes: Seq[RecordingLevel] = all.filterNot(_ == None)

  def find(name: String): Option[RecordingLevel] = all.find(_.name.equalsIgnoreCase(name))
}
