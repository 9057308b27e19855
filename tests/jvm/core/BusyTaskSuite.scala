package io.sparklatency

import io.sparklatency.answer.Parts
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import org.scalatest.funsuite.AnyFunSuite

/** Where no batch ends: which step is at work all the time, so that records wait to be read. */
class BusyTaskSuite extends AnyFunSuite {
  import Aged._
  import Answered.said

  /**
   * Where no batch ends, of records that are 40 s old when they are read, and 41 s at the end.
   *
   * @param worked for how many milliseconds of each of the last windows the operators before a node were at work; none where the last
   *               window does not tell
   */
  private def endless(worked: (String, Seq[Double])*): QueryAnswer = after(7, worked: _*)

  /** The same after so many windows. */
  private def after(windows: Long, worked: (String, Seq[Double])*): QueryAnswer = {
    val running = Answered.withoutEnd(
      node("source")(40000),
      node("scored", "source")(40600),
      node("sink", "scored")(41000)
    )
    val nodes = running.nodes.map(node => node.copy(operator = worked.toMap.getOrElse(node.id, Seq(0.0))))
    Answered.answer(running.copy(nodes = nodes, times = Some(window(windows, nodes))))
  }

  private def window(number: Long, nodes: Seq[NodeSnapshot]): BatchTimes = {
    val at = nodes.map(node => NodeTimes(node.id, node.operator.lastOption, 0, 0, "1"))
    val ms = at.flatMap(_.latencyMs).sum
    BatchTimes(number, 0, Some(0), Seq(StageTimes(Nil, 0, ms, 1, at, at.map(_.node), 0)), BatchTimes.Window)
  }

  private val old = "Records are old when they are read, 40 s of 41 s (98 %). "

  test(
    "where no batch ends, and records are old when they are read, the step is named that is at work all the time"
  ) {
    val answer = endless("scored" -> Seq(980.0))
    val faster = "and records wait for it. Make that faster, or give it more cores."
    assert(said(answer.headline) === ((
      "source-queuing",
      Some("scored"),
      Some(40000.0),
      Some(41000.0),
      Some(40 / 41.0),
      s"${old}A task is at work 98 % of the time at scored, $faster"
    )))
    assert(answer.slowestStep === Some("scored"))
    assert(
      answer.cause.map(cause => (cause.part.kinds, cause.part.ms)) === Some(Seq(Parts.Queuing) -> 40000.0)
    )
    assert(answer.headline.short === Some("source queuing: scored (98 %)"))
    // Of many steps none may take all of it. So may the last window, of ten.
    assert(endless("scored" -> Seq(500.0), "sink" -> Seq(300.0)).headline.text ===
      s"${old}A task is at work 80 % of the time, 50 % at scored, $faster")
    assert(endless("scored" -> (Seq.fill(9)(1000.0) :+ 20.0)).headline.node === Some("scored"))
  }

  test("where no step is at work all the time none is blamed for the age that records are read with") {
    val none =
      "No step from source to sink is at work all the time. So these records arrive old, or wait for what stands before source or " +
        "behind sink."
    for (answer <- Seq(endless("scored" -> Seq(799.0)), endless("scored" -> (Seq.fill(9)(0.0) :+ 1000.0)))) {
      assert(said(answer.headline) ===
        (("source-queuing", None, Some(40000.0), Some(41000.0), Some(40 / 41.0), old + none)))
      assert(answer.slowestStep === None)
      assert(answer.headline.short === Some("source queuing (98 %)"))
    }
  }

  test("in the first seconds nobody says that no step is at work all the time") {
    val wait =
      s"${old}They arrive old, or wait for a busy task. The query has run too briefly to tell whether a task is at work all the time."
    assert(after(4, "scored" -> Seq(300.0, 990.0)).headline.text === wait)
    assert(after(5, "scored" -> Seq(300.0, 990.0)).headline.text.startsWith(s"${old}No step from source"))
    assert(after(1, "scored" -> Seq(990.0)).headline.node === Some("scored"))
  }

  test("where nobody knows how long a step is at work, it is not said that none is all the time") {
    assert(endless("scored" -> Seq(799.0), "sink" -> Nil).headline.text ===
      s"${old}They arrive old, or wait for a busy task. It is not known how long the operators before sink are at work. " +
      "Put a mark behind each filter to see more.")
    assert(endless("scored" -> Seq(800.0), "sink" -> Nil).headline.node === Some("scored"))
    // Of what the last second does not tell, what was before is no answer.
    val gone = endless("scored" -> Seq(980.0))
    val without = window(8, gone.query.nodes.map(_.copy(operator = Nil)))
    assert(Answered.answer(gone.query.copy(times = Some(without))).slowestStep === None)
    assert(Answered.answer(gone.query.copy(times = None)).headline.text ===
      s"${old}They arrive old, or wait for a busy task. No task has told how long its operators are at work.")
  }

  test("a task that is at work on another way than that of the oldest records is not what they wait for") {
    val nodes = Answered.withoutEnd(
      node("left")(40000),
      node("right")(100),
      node("scored", "right")(200),
      node("sink", "left", "scored")(41000)
    ).nodes
    def stage(busy: Double, ids: String*) = {
      val at = ids.map(id => NodeTimes(id, Some(if (id == "scored") busy else 0), 0, 0, "1"))
      StageTimes(Nil, 0, busy, 1, at, ids, 0)
    }
    def answer(stages: StageTimes*) = Answered.answer(Answered.withoutEnd().copy(
      nodes = nodes.map(node => node.copy(operator = if (node.id == "scored") Seq(990) else Seq(0))),
      times = Some(BatchTimes(7, 0, Some(0), stages, BatchTimes.Window))
    ))
    val elsewhere = answer(stage(0, "left"), stage(990, "right", "scored"), stage(0, "sink"))
    assert(elsewhere.slowestStep === None)
    assert(
      elsewhere.headline.text.startsWith("Records are old when they are read at left, 40 s of 41 s (98 %). ")
    )
    assert(
      answer(stage(0, "left"), stage(990, "right", "scored", "sink")).slowestStep === Some("scored")
    )
  }
}
