package io.sparklatency.answer

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Held
import io.sparklatency.figures.WatermarkKind
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.OperatorPath

/**
 * What makes records old: the part of their age that leads, and what makes it lead. Where records wait for the batch before, that
 * is the step which fills the batch.
 *
 * @param part  the one that leads
 * @param whole what all parts take together; the mean age at the commit, where none is negative
 * @param nodes whose step it is; none where no step is to blame
 * @param words the sentence, and what to do
 */
final case class Cause(part: Parts.Part, whole: Double, nodes: Seq[String], words: Headline.Words)

object Cause {
  import Headline.Words

  /** Of a batch and the path of its own nodes; none where it does not tell its parts. */
  def of(batch: Batch, path: LatencyPath): Option[Cause] = Parts.of(batch, path).flatMap(of(batch, _, None))

  /** The step that is the cause, where one is; where no cause is known, the one at which records grow old most. */
  def slowestStep(cause: Option[Cause], path: LatencyPath): Option[String] =
    cause.fold(path.slowestStep.map(_.id))(_.nodes.headOption)

  /**
   * @param batch the one that `parts` were made of
   * @param watermark what another delay would do
   */
  private[answer] def of(
      batch: Batch,
      parts: Parts,
      watermark: Option[WatermarkAdvice]
  ): Option[Cause] = for {
    age <- batch.parts
    admission <- batch.admission
    leading <- parts.of.filter(_.ms > 0).maxByOption(_.ms)
    // What is negative takes no time, and has no share.
    whole = parts.of.map(_.ms.max(0)).sum
  } yield {
    val figures =
      s"${Readable.duration(leading.ms)} of ${Readable.duration(whole)} (${Readable.percent(leading.share)})"
    lazy val by =
      batch.nodes.find(_.id == age.end).flatMap(_.timestamp).fold("")(column =>
        s", by ${Readable.name(column)}"
      )
    lazy val filling = fillingOf(batch, admission, age.end)
    def because(nodes: Seq[String], before: String, after: String): Cause =
      Cause(
        leading,
        whole,
        nodes,
        if (nodes.isEmpty) Words(before + after) else Words(before, named(nodes), after)
      )
    leading.kinds.head match {
      case Parts.ArrivedOld =>
        because(
          Nil,
          s"Records arrive old: $figures$by. They were not there to be read before, so no step of the query is the cause: look at who " +
            "writes them, and at their clock.",
          ""
        )
      case Parts.Backlog =>
        val limit = admission.limit.fold("a limit")(Readable.name(_))
        because(
          filling.nodes,
          s"Records wait in the backlog, $figures: $limit admits no more. ${filling.before}",
          s"${filling.after} Raise the limit, or make the batch faster."
        )
      case Parts.BatchBefore =>
        because(
          filling.nodes,
          s"Records wait for the batch before, $figures. ${filling.before}",
          s"${filling.after} ${filling.remedy}"
        )
      case Parts.Trigger =>
        val every = admission.intervalMs.filter(_ > 0).fold("")(ms =>
          s" It comes every ${Readable.duration(ms.toDouble)}."
        )
        because(
          Nil,
          s"Records wait for the trigger, $figures.$every A shorter interval makes them younger.",
          ""
        )
      case Parts.Start =>
        because(
          Nil,
          s"It takes long until a batch begins to read, $figures: offsets, planning, scheduling. Fewer files and partitions make it " +
            "shorter.",
          ""
        )
      case Parts.State =>
        val node = leading.nodes.headOption.getOrElse(age.end)
        because(Seq(node), s"Records wait in state before ", s", $figures.${leaving(batch, node, watermark)}")
      case Parts.Commit =>
        because(
          Seq(age.end),
          "What comes after ",
          s" takes $figures: the sink, and whatever stands before it without a node. Make that faster."
        )
      case _ if leading.nodes.isEmpty => because(Nil, s"Work takes longest, $figures.", "")
      case _ =>
        val before =
          if (leading.nodes.size == 1 && leading.at.exists(_.startsWith("at "))) "" else "the stage of "
        because(leading.nodes, s"Slowest step: $before", s", $figures. $Faster")
    }
  }

  private val Faster = "Make that faster, or give it more cores."

  /** What fills a batch: words about it, and the nodes to name in their midst. */
  private final case class Filling(nodes: Seq[String], before: String, after: String, remedy: String)

  /** Of the start of a batch, the steps of its work, and what comes after: the longest. */
  private def fillingOf(batch: Batch, admission: Admission, end: String): Filling = {
    val took = admission.tookMs.toDouble
    val path = batch.times.map(new OperatorPath(_))
    val firstReadMs = batch.firstReadMs.getOrElse(admission.startMs.toDouble)
    val start = firstReadMs - admission.startMs
    val step = path.flatMap(_.longest)
    val after = path.fold(took)(_.behind(admission.startMs + took))
    def taking(ms: Double) =
      s"A batch takes ${Readable.duration(took)}, ${Readable.duration(ms.min(took))} of it"
    step.filter(step => step.ms >= start && step.ms >= after) match {
      case Some(step) if step.nodes.nonEmpty =>
        val where = if (step.kind == OperatorPath.Node) "at" else "in the stage of"
        Filling(step.nodes, s"${taking(step.ms)} $where ", ".", Faster)
      case _ if after >= start =>
        Filling(
          Seq(end),
          s"${taking(after)} after ",
          ".",
          "Make the sink faster, and whatever stands before it without a node."
        )
      case _ => Filling(
          Nil,
          s"${taking(start)} before it reads: offsets, planning, scheduling.",
          "",
          "Longer batches spend less on it."
        )
    }
  }

  /** When records leave the state of a node, and what makes that earlier. Of a join, also when the other side has a match. */
  private def leaving(batch: Batch, node: String, advice: Option[WatermarkAdvice]): String = {
    val at = batch.nodes.find(_.id == node)
    val sides = at.fold(0)(_.upstream.distinct.size)
    val (end, shorterOnes) = at.flatMap(_.held) match {
      case Some(Held(Some(ms), _)) =>
        (s"the end of their window of ${Readable.duration(ms.toDouble)}", "delay or window")
      case Some(Held(_, Some(ms))) =>
        (s"the end of their session, ${Readable.duration(ms.toDouble)} after its last record", "delay or gap")
      case _ => ("them", "delay or window")
    }
    val watermark = batch.watermarks.find(_.holdsBack).orElse(batch.watermarks.headOption).map { watermark =>
      val newest = if (watermark.kind == WatermarkKind.SystemTime) "the clock" else "its newest event"
      s"the watermark of ${Readable.name(watermark.source)}, ${Readable.duration(watermark.delayMs.toDouble)} behind $newest, passes $end"
    }
    if (sides > 1)
      s" They leave when a match comes from the other side${watermark.fold("")(passes => s", or when $passes")}."
    else
      watermark.fold("") { passes =>
        val shorter =
          advice.filter(_.isShorter).fold(s"a shorter $shorterOnes makes them younger.")(advice =>
            s"${advice.better} are enough for ${WatermarkAdvice.Percent} % of records, and make them ${advice.earlier} younger."
          )
        s" They leave when $passes: $shorter"
      }
  }

  private def named(nodes: Seq[String]): String = Readable.names(nodes, 4)
}
