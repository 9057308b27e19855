package io.sparklatency.figures

/** How finely the driver keeps figures apart. */
sealed abstract class Granularity(val name: String) {
  override def toString: String = name
}

object Granularity {

  /** Only the nodes at which a query's records end: one figure for most queries. */
  case object Single extends Granularity("single")

  /** One figure for each node. */
  case object Operator extends Granularity("operator")

  /** The same, and for each node and partition an MBean. */
  case object Subtask extends Granularity("subtask")

  val all: Seq[Granularity] = Seq(Single, Operator, Subtask)
}
