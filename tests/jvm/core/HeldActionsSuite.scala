package io.sparklatency

import io.sparklatency.figures.HeldActions
import io.sparklatency.figures.Measure
import org.scalatest.funsuite.AnyFunSuite

/** Several actions inside one foreachBatch, of which each node counts once. */
class HeldActionsSuite extends AnyFunSuite {
  private case class Mark(node: String, records: Long, action: Int)

  private def held =
    new HeldActions[Mark](mark => mark.node -> Measure.E2ELatency, _.map(_.records).maxOption.getOrElse(0L))

  test("of two actions the one stands that read more, node by node") {
    val actions = held
    assert(actions.hold(Seq(Mark("source", 10, 1), Mark("sink", 2, 1))) === Nil)
    val dropped = actions.hold(Seq(Mark("source", 4, 2), Mark("sink", 3, 2)))
    assert(dropped.toSet === Set(Mark("source", 4, 2), Mark("sink", 2, 1)))
    assert(actions.release() === Seq(Mark("source", 10, 1), Mark("sink", 3, 2)))
  }

  test("of two actions that read as much the earlier stands") {
    val actions = held
    actions.hold(Seq(Mark("sink", 3, 1)))
    assert(actions.hold(Seq(Mark("sink", 3, 2))) === Seq(Mark("sink", 3, 2)))
    assert(actions.release() === Seq(Mark("sink", 3, 1)))
  }

  test("a node that one action planned several times counts by the planning that will stand") {
    val actions = held
    val twice = Seq(Mark("sink", 3, 2), Mark("sink", 4, 2))
    actions.hold(Seq(Mark("sink", 5, 1)))
    assert(actions.hold(twice) === twice)
    assert(actions.hold(Seq(Mark("sink", 6, 3), Mark("sink", 1, 3))) === Seq(Mark("sink", 5, 1)))
  }

  test("a node that had no record stands beside an action without it") {
    val actions = held
    actions.hold(Seq(Mark("late", 0, 1)))
    assert(actions.hold(Seq(Mark("sink", 3, 2))) === Nil)
    assert(actions.release() === Seq(Mark("late", 0, 1), Mark("sink", 3, 2)))
  }

  test("a mark that is held already counts once") {
    val actions = held
    val twice = Seq(Mark("sink", 3, 1), Mark("sink", 2, 1))
    actions.hold(twice)
    assert(actions.hold(twice) === Nil)
    assert(actions.hold(Seq(Mark("sink", 6, 2))) === twice)
    assert(actions.release() === Seq(Mark("sink", 6, 2)))
  }

  test("what was given out is held no more") {
    val actions = held
    actions.hold(Seq(Mark("sink", 3, 1)))
    assert(actions.release().size === 1)
    assert(actions.release() === Nil)
    assert(actions.hold(Seq(Mark("sink", 1, 2))) === Nil)
  }
}
