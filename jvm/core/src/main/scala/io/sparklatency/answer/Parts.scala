package io.sparklatency.answer

import io.sparklatency.path.LatencySplit

/**
 * The mean age of records at the commit, in the parts that are known, which follow one another and add up to the whole. Made of
 * each node's last batch, so that the parts hold the same records.
 */
final case class Parts(of: Seq[Parts.Part]) {
  def whole: Option[Double] = Option.when(of.nonEmpty)(of.map(_.ms).sum)

  def text: Option[String] = whole.map(ms =>
    s"${of.map(_.text).mkString(", ")}: ${Readable.duration(ms)} on average in the last batch"
  )
}

object Parts {

  /**
   * @param steps more than one where they cannot be told apart
   * @param share of all parts, between 0 and 1. A negative part has none: other records may have reached the end than came in
   */
  final case class Part(steps: Seq[LatencySplit.Step], ms: Double, share: Double) {
    def names: Seq[String] = steps.map(_.name)
    def name: String = names.mkString(" and ")
    def text: String = s"$name ${Readable.duration(ms)}"
  }

  def of(split: LatencySplit): Parts = {
    val parts = split.parts
    val shown = parts.map(_.ms.max(0)).sum
    Parts(parts.map(part => Part(part.steps, part.ms, if (shown > 0) part.ms.max(0) / shown else 0)))
  }
}
