package io.sparklatency

import org.scalatest.funsuite.AnyFunSuite

/** The running figures of a node, whose tasks publish while they run and are counted as a whole when they end. */
class NodeFiguresSuite extends AnyFunSuite {
  private val clock = new ManualClock(1000)
  private val task = 7L

  private def figures = new NodeFigures(clock, WindowSettings())

  private def aged(ms: Long*): LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    ms.foreach(age => recorder.record((clock.millis() - age) * 1000))
    recorder.summary()
  }

  private def shown(figures: NodeFigures): (Long, Long, Option[Long]) = {
    val now = figures.snapshot()
    (now.records, now.window.count, now.window.max)
  }

  test("what a running task publishes shows at once") {
    val node = figures
    node.publish(task, aged(1, 2))
    node.publish(task, aged(9))
    assert(shown(node) === ((3, 3, Some(9))))
  }

  test("a task that ends as a whole counts once, and its rest comes into the window") {
    val node = figures
    node.publish(task, aged(1, 2))
    node.add(aged(1, 2, 5), rest = aged(5))
    node.forget(task)
    assert(shown(node) === ((3, 3, Some(5))))
  }

  test("a task that failed counts no more") {
    val node = figures
    node.add(aged(1))
    node.publish(task, aged(2, 3))
    node.forget(task)
    assert(node.snapshot().records === 1)
  }

  test("an endless task that was stopped keeps its counts, once") {
    val node = figures
    node.publish(task, aged(2, 3))
    node.keep(task)
    node.keep(task)
    node.forget(task)
    assert(node.snapshot().records === 2)
  }
}
