package io.sparklatency.path

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Filling

/** Tells what fills a batch: its start, the steps of its work, and what comes after: the longest. */
object BatchFilling {

  /** @param admission the batch's */
  def of(batch: Batch, admission: Admission): Filling = {
    val took = admission.tookMs.toDouble
    val path = batch.times.map(new OperatorPath(_))
    val start = batch.firstReadMs.getOrElse(admission.startMs.toDouble) - admission.startMs
    val after = path.fold(took)(_.behind(admission.startMs + took))
    def filling(kind: Filling.Kind, nodes: Seq[String], ms: Double) =
      Filling(took, kind, nodes, ms.min(took))
    path.flatMap(_.longest).filter(step => step.ms >= start && step.ms >= after) match {
      case Some(step) =>
        val kind = if (step.kind == OperatorPath.Node) Filling.Node else Filling.Stage
        filling(kind, step.nodes, step.ms)
      case _ if after >= start =>
        val end = batch.parts.map(_.end).orElse(batch.slowestEnd.map(_.id))
        filling(Filling.After, end.toSeq, after)
      case _ => filling(Filling.Start, Nil, start)
    }
  }
}
