package io.sparklatency.path

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Phase

/**
 * What a batch does until its first read, in milliseconds, as far as Spark tells how long each step took.
 *
 * @param log  to write its offsets to the checkpoint
 * @param jobs between planning and the first read, where that is more than a stage needs to begin: a table that is broadcast, stages
 *             without a node, what `foreachBatch` does first, a wait for cores
 * @param rest offsets, planning, scheduling
 */
final case class BatchStart(log: Double, jobs: Double, rest: Double) {
  def whole: Double = log + jobs + rest
}

object BatchStart {

  /** @param admission the batch's */
  def of(batch: Batch, admission: Admission): BatchStart = {
    def took(name: String) = batch.durationsMs.get(name).fold(0.0)(_.toDouble)
    val begin = admission.startMs.toDouble
    val firstReadMs = batch.firstReadMs.getOrElse(begin)
    val whole = firstReadMs - begin
    val log = took(Phase.WalCommit).min(whole).max(0)
    val jobs = batch.durationsMs.get(Phase.AddBatch).fold(0.0) { ms =>
      // The sink is called then, and the results can be seen when it is done.
      val called = (batch.committedMs - ms).toDouble.max(begin + BeforeTheSink.map(took).sum)
      Some(firstReadMs - called).filter(_ >= Scheduling).getOrElse(0.0)
    }
    BatchStart(log, jobs, whole - log - jobs)
  }

  private val BeforeTheSink = Phase.all.takeWhile(_ != Phase.AddBatch)

  /** What a stage may need to begin on a busy machine, in milliseconds. */
  private val Scheduling = 1000
}
