package io.sparklatency.answer

import io.sparklatency.figures.Batch
import io.sparklatency.path.LatencyPath

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
    // What is negative takes no time, and has no share.
    whole = parts.of.map(_.ms.max(0)).sum
    leading <- parts.of.find(isAhead(_, whole)).orElse(longest(parts.of))
  } yield new LeadingPart(batch, age, admission, parts, leading, whole, watermark).cause

  /**
   * The longest part of what takes longest as a whole. The work at many steps is one thing, which may take longest though no step of it
   * does.
   */
  private def longest(parts: Seq[Parts.Part]): Option[Parts.Part] = {
    val taken = parts.filter(_.ms > 0)
    def together(kinds: Seq[Parts.Kind]) = taken.filter(_.kinds == kinds)
    taken.map(_.kinds).distinct.maxByOption(together(_).map(_.ms).sum).map { kinds =>
      val (steps, others) = together(kinds).partition(_.isOneStep)
      (if (steps.isEmpty) others else steps).maxBy(_.ms)
    }
  }

  /** Whether records came so far ahead of the clock that they are not as old as what their batch did with them. */
  private def isAhead(part: Parts.Part, whole: Double): Boolean =
    part.kinds.head == Parts.ArrivedOld && part.ms < -whole
}
