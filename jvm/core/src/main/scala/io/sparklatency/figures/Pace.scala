package io.sparklatency.figures

/** How often a run commits a batch, and how long one takes: the medians of the last ten. Not thread-safe. */
final class Pace {
  import Pace._

  private var commits = Vector.empty[Long]
  private var durations = Vector.empty[Long]

  /** @param tookMs from its trigger until all of it was done, where Spark tells */
  def committed(atMs: Long, tookMs: Option[Long]): Unit = {
    commits = (commits :+ atMs).takeRight(Batches + 1)
    durations = (durations ++ tookMs).takeRight(Batches)
  }

  /** From one commit to the next. */
  def intervalMs: Option[Double] =
    median(commits.zip(commits.drop(1)).map { case (one, next) => next - one }.filter(_ >= 0))

  def takesMs: Option[Double] = median(durations)
}

private object Pace {
  private val Batches = 10

  /** What is usual: one batch that took long, or a clock that was set, makes it no other. */
  private def median(ms: Seq[Long]): Option[Double] = {
    val sorted = ms.sorted
    Option.when(ms.nonEmpty)((sorted((ms.size - 1) / 2) + sorted(ms.size / 2)) / 2.0)
  }
}
