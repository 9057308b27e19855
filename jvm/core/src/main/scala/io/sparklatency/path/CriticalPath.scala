package io.sparklatency.path

/**
 * The way through a graph that takes longest, and how long: what Apache Apex calls the critical path and the application latency.
 *
 * @param path places in the graph, upstream first; empty in an empty graph
 */
final case class CriticalPath(path: Seq[Int], latency: Double)

object CriticalPath {

  /**
   * Of two ways that take as long the first stands, as places and edges are given. An edge from a place that there is not counts for
   * nothing. So does one that closes a cycle, as the way back of a loop does.
   *
   * @param latencies of each place; a negative one is clocks' fault and counts as 0
   * @param upstream  from which places each is reached
   */
  def of(latencies: IndexedSeq[Double], upstream: Int => Seq[Int]): CriticalPath = {
    val known = new Array[Way](latencies.size)

    /** Places that are still being looked at are on the way here. */
    def to(place: Int, open: Set[Int]): Way = {
      if (known(place) == null) {
        val here = open + place
        val before = upstream(place).filter(up => latencies.indices.contains(up) && !here(up))
          .map(to(_, here)).foldLeft(Option.empty[Way])(longer)
        known(place) = Way(place, before, before.fold(0.0)(_.latency) + latencies(place).max(0))
      }
      known(place)
    }

    val passedOn = latencies.indices.flatMap(upstream).toSet
    val ends = latencies.indices.filterNot(passedOn)
    val longest = (if (ends.isEmpty) latencies.indices else ends).map(to(_, Set.empty))
      .foldLeft(Option.empty[Way])(longer)
    CriticalPath(longest.fold(List.empty[Int])(_.places), longest.fold(0.0)(_.latency))
  }

  /** The longest way that ends at a place. */
  private final case class Way(place: Int, before: Option[Way], latency: Double) {
    def places: List[Int] = {
      var (way, places) = (Option(this), List.empty[Int])
      while (way.nonEmpty) {
        places = way.get.place :: places
        way = way.get.before
      }
      places
    }
  }

  private def longer(one: Option[Way], other: Way): Option[Way] =
    if (one.exists(_.latency >= other.latency)) one else Some(other)
}
