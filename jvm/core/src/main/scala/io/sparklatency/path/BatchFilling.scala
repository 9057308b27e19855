package io.sparklatency.path

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Filling
import io.sparklatency.figures.Phase

/** Tells what fills a batch: its start, the steps of its work, what comes after, and Spark's log of it: the longest. */
object BatchFilling {

  /** @param admission the batch's */
  def of(batch: Batch, admission: Admission): Filling = {
    val took = admission.tookMs.toDouble
    val path = batch.times.map(new OperatorPath(_))
    val start = BatchStart.of(batch, admission)
    // Spark writes that when the sink has taken everything.
    val done = batch.durationsMs.getOrElse(Phase.CommitOffsets, 0L).toDouble
    val after = path.fold(took)(_.behind(admission.startMs + took)) - done
    def filling(kind: Filling.Kind, nodes: Seq[String], ms: Double) =
      Filling(took, kind, nodes, ms.min(took))
    val work = path.flatMap(_.longest).map { step =>
      val kind = if (step.kind == OperatorPath.Node) Filling.Node else Filling.Stage
      filling(kind, step.nodes, step.ms)
    }
    val end = batch.parts.map(_.end).orElse(batch.slowestEnd.map(_.id))
    val others = Seq(
      filling(Filling.After, end.toSeq, after),
      filling(Filling.Start, Nil, start.rest),
      filling(Filling.Jobs, Nil, start.jobs),
      filling(Filling.Log, Nil, start.log + done)
    )
    (work.toSeq ++ others).maxBy(_.ms)
  }
}
