package io.sparklatency.figures

/** @param rows how many have come so far */
final case class RunningSlice(attempt: TaskAttempt, partition: Int, slice: TaskSlice, rows: Long)
