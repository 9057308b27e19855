package io.sparklatency.figures

/**
 * How Spark makes one watermark of several: by its policy `min` the least, by `max` the greatest. An idle source has no say,
 * unless all are idle: then nobody is left to wait for, and the greatest counts. Without state, for any thread.
 */
object WatermarkPolicy {

  /**
   * @param times  of each source; Spark takes 0 where nothing has been seen yet
   * @param isIdle of the source at the same place
   */
  def chosen(times: Seq[Long], isIdle: Seq[Boolean], isMax: Boolean): Option[Long] = {
    val active = times.zip(isIdle).collect { case (time, false) => time }
    if (isMax || active.isEmpty) times.maxOption else active.minOption
  }
}
