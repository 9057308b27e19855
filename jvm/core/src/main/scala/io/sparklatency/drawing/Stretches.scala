package io.sparklatency.drawing

import scala.annotation.tailrec

/** A line over time that has gaps is drawn stretch by stretch. Without state. */
private[drawing] object Stretches {

  /** The points between gaps, oldest first. */
  def of[A](points: Seq[Option[A]]): List[List[A]] = of(points.toList, Nil)

  @tailrec
  private def of[A](points: List[Option[A]], before: List[List[A]]): List[List[A]] =
    points.dropWhile(_.isEmpty) match {
      case Nil => before.reverse
      case known =>
        val (stretch, others) = known.span(_.nonEmpty)
        of(others, stretch.flatten :: before)
    }

  /** Where each point of a stretch stands. One by itself becomes a dash, so that it can be seen. */
  def placed[A](stretch: List[A], half: Double)(x: A => Double): List[(Double, A)] = stretch match {
    case one :: Nil => List(x(one) - half -> one, x(one) + half -> one)
    case many => many.map(point => x(point) -> point)
  }
}
