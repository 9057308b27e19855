package io.sparklatency.figures

/** How often a run commits a batch, and how long one takes: the medians of the last ten. Not thread-safe. */
private final class Pace {
  import Pace._

  private var commits = Vector.empty[Long]
  private var durations = Vector.empty[Long]

  def committed(batch: Batch): Unit = {
    commits = (commits :+ batch.committedMs).takeRight(Batches + 1)
    durations = (durations ++ batch.durationsMs.get("triggerExecution")).takeRight(Batches)
  }

  /** From one commit to the next. */
  def intervalMs: Option[Double] =
    median(commits.zip(commits.drop(1)).map { case (one, next) => next - one }.filter(_ >= 0))

  /** From a trigger until all of its batch is done, where Spark tells. */
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
