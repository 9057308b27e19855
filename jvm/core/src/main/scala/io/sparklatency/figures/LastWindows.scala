package io.sparklatency.figures

/**
 * Who was at work when a batch ended, where batches go on for minutes: the windows of a second take the place of its times. Immutable.
 *
 * @param last      the last of them; none where none was told yet
 * @param operators how long the operators before each node were at work in the last ten
 */
final case class LastWindows(last: Option[BatchTimes], operators: Map[String, Seq[Double]])
