package io.sparklatency

import scala.util.Random

import io.sparklatency.path.CriticalPath
import org.scalatest.funsuite.AnyFunSuite

/** Cases of Apache Apex, and random graphs against every way through them. */
class CriticalPathSuite extends AnyFunSuite {

  private def of(latencies: Double*)(upstream: (Int, Seq[Int])*) =
    CriticalPath.of(latencies.toIndexedSeq, upstream.toMap.getOrElse(_, Nil))

  test("Apex's example: A0 B5 C100 D30 E20 F2, A to B and C, B to D, C to E and F") {
    val upstream = Seq(1 -> Seq(0), 2 -> Seq(0), 3 -> Seq(1), 4 -> Seq(2), 5 -> Seq(2))
    assert(of(0, 5, 100, 30, 20, 2)(upstream: _*) === CriticalPath(Seq(0, 2, 4), 120))
    assert(of(0, 1, 100, 30, 20, 2)(upstream: _*).latency === 120.0, "a faster B changes nothing")
    assert(
      of(0, 5, 10, 30, 20, 2)(upstream: _*) === CriticalPath(Seq(0, 1, 3), 35),
      "without a slow C it is D"
    )
    assert(of(0, 5, 100, 30, 0, 2)(upstream: _*) === CriticalPath(Seq(0, 2, 5), 102))
  }

  test("of ways that take as long the first stands: of edges, and of ends") {
    assert(of(0, 7, 7, 1)(1 -> Seq(0), 2 -> Seq(0), 3 -> Seq(2, 1)).path === Seq(0, 2, 3))
    assert(of(0, 7, 7)(1 -> Seq(0), 2 -> Seq(0)).path === Seq(0, 1))
  }

  test("nothing has no path, and takes no time") {
    assert(of()() === CriticalPath(Nil, 0))
  }

  test("a place that there is not, and an edge that closes a cycle, count for nothing") {
    assert(of(1, 2)(1 -> Seq(0, 9, -1)) === CriticalPath(Seq(0, 1), 3))
    assert(of(1, 2, 4)(1 -> Seq(0, 2), 2 -> Seq(1)) === CriticalPath(Seq(2, 1), 6))
    assert(of(3)(0 -> Seq(0)) === CriticalPath(Seq(0), 3))
  }

  test("less than no time, through clocks that differ, counts as none") {
    assert(of(5, -3, 4)(1 -> Seq(0), 2 -> Seq(1)) === CriticalPath(Seq(0, 1, 2), 9))
  }

  test("of 100,000 random graphs it is the longest of all ways") {
    val random = new Random(20261123)
    for (_ <- 1 to 100000) {
      val size = 1 + random.nextInt(7)
      val latencies = IndexedSeq.fill(size)(random.nextInt(20).toDouble)
      val order = random.shuffle((0 until size).toList)
      val upstream = order.zipWithIndex.map { case (place, rank) =>
        place -> order.take(rank).filter(_ => random.nextInt(3) == 0)
      }.toMap
      def ways(place: Int): Seq[List[Int]] =
        if (upstream(place).isEmpty) Seq(List(place)) else upstream(place).flatMap(ways).map(_ :+ place)
      val all = (0 until size).flatMap(ways)
      val found = CriticalPath.of(latencies, upstream)
      assert(found.latency === all.map(_.map(latencies).sum).max, (latencies, upstream))
      assert(
        all.contains(found.path.toList) && found.path.map(latencies).sum === found.latency,
        (latencies, upstream)
      )
    }
  }
}
