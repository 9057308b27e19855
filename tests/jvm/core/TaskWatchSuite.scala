package io.sparklatency

import io.sparklatency.recording.TaskWatch
import io.sparklatency.time.Clock
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** How long rows are under way to each node of a task. Looks are one millisecond apart. */
class TaskWatchSuite extends AnyFunSuite {

  private final class Task(nodes: Int) {
    val clock = new ManualClock(1000)
    private val began = System.nanoTime()
    val watch = new TaskWatch(clock, began)
    private var looks = 0
    val rows: Array[Long] = new Array(nodes)
    val opened: Seq[TaskWatch#Node] = rows.indices.map(open)

    def open(place: Int): TaskWatch#Node = watch.opened(() => rows(place))

    /** So many rows have come to each node, and they are looked at so many times. */
    def look(times: Int)(now: Long*): Unit = {
      now.copyToArray(rows)
      (1 to times).foreach { _ =>
        looks += 1
        watch.look(began + looks * 1000000L)
      }
    }

    def reads(node: TaskWatch#Node): Unit = node.reads(began + looks * 1000000L)

    def waited: Seq[Long] = opened.map(_.waitedNanos / 1000000)
    def watched: Seq[Long] = opened.map(_.watchedNanos / 1000000)
  }

  test("a row is under way to each node that has seen fewer rows than the first") {
    val task = new Task(3)
    task.look(5)(1, 0, 0) // before the second node
    task.look(7)(1, 1, 0) // before the third
    task.look(3)(1, 1, 1) // before the first, or behind the last
    task.look(2)(2, 1, 1)
    assert(task.waited === Seq(0, 7, 14))
    assert(task.watched === Seq(17, 17, 17))
  }

  test(
    "a node that has seen more rows than those before it, as behind an explode, does not make these wait"
  ) {
    val task = new Task(3)
    task.look(5)(10, 10, 100)
    assert(task.waited === Seq(0, 0, 0))
  }

  test("rows that a function takes in batches are under way to the node behind it") {
    val task = new Task(2)
    task.look(4)(100, 20)
    task.look(1)(100, 100)
    assert(task.waited === Seq(0, 4))
  }

  test("where all rows are gathered first, a node behind waits when the last has come") {
    val task = new Task(2)
    task.look(4)(100, 0)
    assert(task.waited === Seq(0, 0), "whoever is before the first node is at work")
    task.opened.head.ended()
    task.look(6)(100, 0)
    task.look(2)(100, 30)
    assert(task.waited === Seq(0, 8))
    assert(task.watched === Seq(4, 12))
  }

  test("a node that has ended is not looked at, and its end is when it was told first") {
    val task = new Task(1)
    task.clock.set(2000)
    assert(task.opened.head.endedMicros === None)
    task.opened.head.ended()
    task.clock.set(3000)
    task.opened.head.ended()
    task.look(5)(10)
    assert(task.opened.head.openedMicros === 1000000 && task.opened.head.endedMicros === Some(1000000))
    assert(task.watched === Seq(0))
  }

  test("nodes are watched from when their task asks for its first row, by whichever of them it asks") {
    val task = new Task(2)
    task.look(5)(0, 0)
    task.clock.set(1040)
    task.reads(task.opened.last)
    task.look(3)(1, 0)
    task.clock.set(1060)
    task.reads(task.opened.head)
    task.look(4)(2, 2)
    assert(task.waited === Seq(0, 3) && task.watched === Seq(7, 7))
    task.clock.set(1070)
    val later = task.watch.opened(() => 0)
    task.reads(later)
    assert(task.opened.map(node => (node.openedMicros, node.readMicros)) === Seq.fill(2)((1000000, 40000)))
    assert((later.openedMicros, later.readMicros) === ((1070000, 0)))
    assert(task.opened.head.micros === 70000, "all else is counted from when it was opened")
  }

  test("where another thread reads rows for the task's, nobody knows who waits for whom") {
    val comes = Seq[(Task, TaskWatch#Node) => Unit](_.reads(_), (_, node) => node.ended())
    for (come <- comes; isFirst <- Seq(true, false)) {
      val task = new Task(1)
      def fed(): Unit = {
        val thread = new Thread(() => come(task, task.opened.head))
        thread.start()
        thread.join()
      }
      if (isFirst) fed()
      val behind = task.watch.opened(() => 1)
      if (!isFirst) fed()
      task.look(5)(3)
      assert((task.watched, behind.watchedNanos) === ((Seq(0), 0)))
      assert(behind.seenRows === Some(1), "how far it is shows all the same")
    }
  }

  test("a node of a branch of a union stands before those that have begun, though it begins last") {
    val task = new Task(1)
    val read = task.watch.opened(() => 1, isFirst = true)
    task.look(5)(0)
    assert(task.waited === Seq(5) && read.waitedNanos === 0)
    val first = task.watch.opened(() => 2, isFirst = true)
    task.look(3)(0)
    assert((task.waited, read.waitedNanos, first.waitedNanos) === ((Seq(8), 3000000, 0)))
  }

  test("a task is over when one of its nodes is told so first") {
    val task = new Task(2)
    task.clock.set(1500)
    task.opened.last.over()
    task.clock.set(1900)
    task.opened.head.over()
    assert(task.opened.map(_.micros) === Seq(500000, 500000))
  }

  test("a task that has to wait while a node opens has opened it at one moment of both clocks") {
    val clock = new Clock {
      private val busy = Iterator(7000L, 6000L) // after each of the first readings
      private var now = 1000000L
      override def millis(): Long = micros() / 1000
      override def micros(): Long = {
        val read = now
        now += busy.nextOption().getOrElse(0L)
        read
      }
      override def steadyMicros(): Long = now
      override def readEveryRow: Boolean = true
    }
    val node = new TaskWatch(clock).opened(() => 0)
    assert(node.openedMicros + node.micros === clock.micros())
    assert(node.openedMicros === 1013000)
  }

  test("a partition that had ended before does not count in the next") {
    val task = new Task(2)
    task.look(1)(50, 50)
    task.opened.foreach(_.ended())
    val second = new Array[Long](2)
    val nodes = second.indices.map(place => task.watch.opened(() => second(place)))
    second(0) = 1
    task.look(5)(50, 50)
    assert(nodes.map(_.waitedNanos / 1000000) === Seq(0, 5))
    second(1) = 1
    task.look(5)(50, 50)
    assert(nodes.map(_.waitedNanos / 1000000) === Seq(0, 5))
  }

  test("numbers that change while they are looked at do not count") {
    val watch = new TaskWatch(new ManualClock(0))
    val began = System.nanoTime()
    var rows = 0L
    var unsteady = 5
    val node = watch.opened { () => if (unsteady > 0) { unsteady -= 1; rows += 1 }; rows }
    watch.look(began)
    val before = node.watchedNanos
    unsteady = 100
    watch.look(began + 1000000)
    assert(node.watchedNanos === before)
    unsteady = 3 // settles within the tries
    watch.look(began + 2000000)
    assert(node.watchedNanos - before === 1000000)
  }
}
