package io.sparklatency.figures

/** A partition of a stretch of plan without a shuffle; stretches are numbered from the sources. */
final case class TaskId(subtopology: Int, partition: Int) {
  override def toString: String = s"${subtopology}_$partition"
}
