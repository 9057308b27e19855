package io.sparklatency.figures

/** The value of a metric. Counts, extremes and percentiles are whole numbers, means are not. */
sealed abstract class Figure extends Product with Serializable {
  def toDouble: Double
}

object Figure {
  final case class Whole(value: Long) extends Figure {
    override def toDouble: Double = value.toDouble
  }

  final case class Mean(value: Double) extends Figure {
    override def toDouble: Double = value
  }
}
