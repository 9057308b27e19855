package io.sparklatency.figures

/** A reading of a partition: the `number`th that a task began at one planning of a node. */
final case class ReadingId(planning: Long, task: Long, number: Int, partition: Int)
