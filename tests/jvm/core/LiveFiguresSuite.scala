package io.sparklatency

import io.sparklatency.figures.LiveFigures
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.WindowSamples
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** The running figures of a node, whose tasks publish while they run and are counted as a whole when they end. */
class LiveFiguresSuite extends AnyFunSuite {
  private val clock = new ManualClock(1000)
  private val task = 7L
  private val reading = ReadingId(planning = 1, task, number = 0, partition = 0)

  private def figures = new LiveFigures(clock, WindowSamples(WindowSettings(), clock))

  private def shown(figures: LiveFigures): (Long, Long, Option[Long]) = {
    val now = figures.snapshot()
    (now.total.records, now.window.count, now.window.max)
  }

  test("what a running task publishes shows at once") {
    val node = figures
    node.publish(reading, Aged.records(1, 2))
    node.publish(reading, Aged.records(9))
    assert(shown(node) === ((3, 3, Some(9))))
  }

  test("a task that ends as a whole counts once, and its rest comes into the window") {
    val node = figures
    node.publish(reading, Aged.records(1, 2))
    node.add(Aged.records(1, 2, 5), rest = Aged.records(5), Seq(reading))
    node.forget(task)
    assert(shown(node) === ((3, 3, Some(5))))
  }

  test("what is settled never goes down, whatever tasks publish and lose again") {
    val node = figures
    node.add(Aged.records(1))
    node.publish(reading, Aged.records(2, 3))
    assert(node.snapshot().settled.records === 1)
    node.forget(task)
    assert(node.snapshot().settled.records === 1)
    node.publish(ReadingId(planning = 2, task, number = 0, partition = 0), Aged.records(4), endless = true)
    assert(node.snapshot().settled.records === 2)
  }

  test("what came to count within the window is known by its maximum, though the window has lost it") {
    val node = figures
    node.publish(reading, Aged.records(100000))
    clock.advance(600000)
    node.publish(reading, Aged.records(7))
    assert(node.snapshot().settledMax === None)
    node.add(Aged.records(100000, 7, 5), rest = Aged.records(5), Seq(reading))
    assert(shown(node) === ((3, 2, Some(7))))
    assert(node.snapshot().settledMax === Some(100000))
    node.add(Aged.records(9))
    clock.advance(60000)
    assert(node.snapshot().settledMax === None)
  }

  test("when a batch has ended nothing stands that was planned before it, but what belongs to no batch") {
    val node = figures
    for ((planning, endless) <- Seq((1L, false), (2L, true), (3L, false), (4L, false)))
      node.publish(ReadingId(planning, planning, 0, 0), Aged.records(planning), Some(500 + planning), endless)
    node.endedBefore(3)
    assert(node.snapshot().total.records === 3)
    assert(node.oldestRunning === Some(503))
  }

  test("the window without what running tasks have shown is told apart, and only while they have") {
    val node = figures
    def ended = node.snapshot().ended.map(records => records.count -> records.max)
    node.add(Aged.records(1))
    assert(ended === None)
    node.publish(reading, Aged.records(2, 3))
    assert(ended === Some(1 -> Some(1)))
    node.publish(ReadingId(planning = 2, task, number = 0, partition = 0), Aged.records(4), endless = true)
    assert(ended === Some(2 -> Some(4)), "what belongs to no batch ends with none")
    node.add(Aged.records(2, 3, 5), rest = Aged.records(5), Seq(reading))
    assert(ended === None)
    assert(shown(node) === ((5, 5, Some(5))))
  }

  test("the oldest record on its way is none of a task without end") {
    val node = figures
    node.publish(
      ReadingId(planning = 2, task, number = 0, partition = 0),
      Aged.records(400),
      Some(600),
      endless = true
    )
    assert(node.oldestRunning === None)
    node.publish(reading, Aged.records(30, 20), Some(970))
    clock.advance(10000)
    node.publish(reading, Aged.records(7), Some(10993))
    assert(node.oldestRunning === Some(970))
  }

  test("a task that failed counts no more, and leaves the window") {
    val node = figures
    node.add(Aged.records(1))
    node.publish(reading, Aged.records(2, 3))
    node.forget(task)
    assert(shown(node) === ((1, 1, Some(1))))
  }

  test("what a task published does not stand when another reading came in its place") {
    val node = figures
    val other = ReadingId(planning = 1, task + 1, number = 0, partition = 0)
    node.publish(reading, Aged.records(9))
    node.publish(other, Aged.records(2))
    node.add(Aged.records(2, 3), rest = Aged.records(3), Seq(other))
    assert(shown(node) === ((3, 3, Some(9))))
    node.ended(Set(1))
    assert(shown(node) === ((2, 2, Some(3))))
  }

  test("of attempts that read the same partition the one shows that has read most") {
    val node = figures
    val other = reading.copy(task = task + 1)
    node.publish(reading, Aged.records(9, 8, 7))
    node.publish(other, Aged.records(2, 1))
    assert(shown(node) === ((3, 3, Some(9))))
    node.publish(other, Aged.records(4, 3))
    assert(shown(node) === ((4, 4, Some(4))))
    node.forget(other.task)
    assert(shown(node) === ((3, 3, Some(9))))
    node.publish(other.copy(partition = 1), Aged.records(2))
    assert(shown(node) === ((4, 4, Some(9))), "another partition counts beside it")
    node.publish(reading.copy(planning = 2), Aged.records(1, 2))
    assert(shown(node) === ((6, 6, Some(9))), "and what another plan reads")
  }

  test("of plannings of which one counts, the one shows that has read most; else they add up") {
    def read(oneCounts: Boolean): LiveFigures = {
      val node = new LiveFigures(clock, WindowSamples(WindowSettings(), clock), oneCounts)
      for ((planning, partition, ages) <- Seq((1, 0, Seq(1L, 2L)), (1, 1, Seq(3L)), (2, 0, Seq(8L, 9L))))
        node.publish(
          ReadingId(planning.toLong, task + planning, number = 0, partition),
          Aged.records(ages: _*)
        )
      node
    }
    assert(shown(read(oneCounts = true)) === ((3, 3, Some(3))))
    assert(shown(read(oneCounts = false)) === ((5, 5, Some(9))))
  }

  test("tasks without end show beside one another, whatever partition they read") {
    val node = figures
    node.publish(reading, Aged.records(9), endless = true)
    node.publish(reading.copy(task = task + 1), Aged.records(2), endless = true)
    assert(shown(node) === ((2, 2, Some(9))))
  }

  test("of two readings of one task each stands by itself") {
    val node = figures
    val again = reading.copy(number = 1, partition = 1)
    node.publish(reading, Aged.records(9))
    node.publish(again, Aged.records(2))
    node.add(Aged.records(2), rest = LatencySummary.empty, Seq(again))
    node.ended(Set(1))
    assert(shown(node) === ((1, 1, Some(2))))
  }

  test("what was published leaves the window when it is as old as the window") {
    val node = figures
    node.publish(reading, Aged.records(9))
    clock.advance(40000)
    node.add(Aged.records(9, 1), rest = Aged.records(1), Seq(reading))
    assert(shown(node) === ((2, 2, Some(9))))
    clock.advance(40000)
    assert(shown(node) === ((2, 1, Some(1))))
  }

  test("where nothing changes a snapshot stands: others' ends are told of all the time") {
    val node = figures
    node.add(Aged.records(1))
    node.publish(reading, Aged.records(2, 3))
    val before = node.snapshot()
    node.ended(Set(5, 6))
    node.forget(task + 1)
    assert(node.snapshot() eq before)
    node.ended(Set(1))
    assert(shown(node) === ((1, 1, Some(1))))
  }

  test("an endless task that was stopped keeps its counts, once") {
    val node = figures
    node.publish(reading, Aged.records(2, 3), endless = true)
    node.ended(Set(1))
    node.keep(task)
    node.keep(task)
    node.forget(task)
    assert(shown(node) === ((2, 2, Some(3))))
  }
}
