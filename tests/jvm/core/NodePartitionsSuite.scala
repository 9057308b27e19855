package io.sparklatency

import io.sparklatency.answer.Work
import io.sparklatency.figures.PartitionTimes
import org.scalatest.funsuite.AnyFunSuite

/** Which partitions of a node took long in a batch. Times are milliseconds. */
class NodePartitionsSuite extends AnyFunSuite with TasksOfBatch {
  import TasksOfBatch._

  private val skewed = Seq(10, 20, 30, 90).zipWithIndex.flatMap { case (ms, task) =>
    Seq(
      At("a", task, 0, 100, records = task),
      At("b", task, 0, 100, waited = ms, records = task, executor = s"e$task")
    )
  }

  test("of each partition of a node it is known who ran it, how long it took, and how the slowest compares") {
    val all = times("a" -> "b")(skewed: _*)
    val b = partitions(all, "b")
    assert((b.count, b.medianMs, b.slowestMs, b.skew, b.left) === ((4, 20.0, 90.0, Some(4.5), 0)))
    assert(b.slowest.head === PartitionTimes(3, "e3", 100, 100, Some(90), 3))
    assert(b.slowest.map(_.partition) === Seq(3, 2, 1, 0))
    assert(Work.text(b) === "Partition 3 was slowest of 4: 90 ms, 4.5 times the median of 20 ms.")
  }

  test("where operator latencies are unknown, partitions are compared by when the last row passed") {
    val filtered = times("a" -> "b")(
      At("a", 1, 0, 40, records = 9),
      At("b", 1, 0, 40, waited = 30, records = 2),
      At("a", 2, 0, 90, records = 9),
      At("b", 2, 10, 90, waited = 80, records = 2)
    )
    val b = partitions(filtered, "b")
    assert(b.slowest.map(one => (one.partition, one.tookMs, one.latencyMs)) ===
      Seq((2, 90.0, None), (1, 40.0, None)))
    assert(b.skew === Some(90.0 / 40))
    assert(partitions(filtered, "a").slowest.map(_.latencyMs) === Seq(Some(0.0), Some(0.0)))
    val behind = times("a" -> "b")(
      At("a", 1, 0, 50, stage = 1),
      At("b", 2, 50, 60, over = 70, stage = 2),
      At("b", 3, 50, 90, stage = 2)
    )
    assert(partitions(behind, "b").slowest.map(_.latencyMs) === Seq(Some(40.0), Some(20.0)))
  }

  test("of many partitions the slowest are kept, and how many there are") {
    val many =
      (0 until 250).flatMap(task => Seq(At("a", task, 0, 1000), At("b", task, 0, 1000, waited = task + 1)))
    val b = partitions(times("a" -> "b")(many: _*), "b")
    assert((b.count, b.slowest.size, b.left, b.medianMs) === ((250, 100, 150, 125.0)))
    assert(b.slowest.map(_.partition) === (249 to 150 by -1))
    assert(Work.text(b).endsWith(" Only the slowest 100 are shown."))
    assert((b.take(5).slowest.size, b.take(5).left) === ((5, 245)))
  }

  test("of many that took as long, those of the lowest numbers are kept, behind the slower ones") {
    val slow = Map(7 -> 20, 240 -> 90, 120 -> 20)
    val idle = (249 to 0 by -1).flatMap(task =>
      Seq(At("a", task, 0, 1000), At("b", task, 0, 1000, waited = slow.getOrElse(task, 0).toDouble))
    )
    val b = partitions(times("a" -> "b")(idle: _*), "b")
    assert((b.count, b.medianMs, b.slowestMs) === ((250, 0.0, 90.0)))
    assert(b.slowest.map(_.partition) === Seq(240, 7, 120) ++ (0 to 97).filterNot(_ == 7))
  }
}
