package io.sparklatency

import io.sparklatency.answer.ClockNote
import io.sparklatency.answer.Note
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.exposition.PrometheusText
import io.sparklatency.figures.DropwizardName
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.JmxName
import io.sparklatency.figures.Metric
import io.sparklatency.time.ClockOffset
import org.scalatest.funsuite.AnyFunSuite

/** What is said of executors' clocks, and under which names. */
class ClockNoteSuite extends AnyFunSuite {
  private def clock(executor: String, micros: Long, bound: Long) =
    ExecutorClock(executor, ClockOffset(micros, bound))

  private def notes(clocks: ExecutorClock*) =
    new QueryAnswer(Answered.query(), None, clocks).notes.filter(_.code == "clock-offset")

  test("a clock that is off by more than its bound is a note on its query") {
    assert(notes(clock("1", 3500000, 400)) === Seq(Note(
      "clock-offset",
      Note.Warn,
      "The clock of executor 1 is 3.5 s ahead of the driver's (± 0.4 ms): latencies are corrected by that.",
      numbers = Seq("offsetMs" -> Mean(3500), "boundMs" -> Mean(0.4), "executors" -> Whole(1))
    )))
  }

  test("of several clocks the furthest is named, the others are counted") {
    val Seq(note) = notes(clock("1", 900, 100), clock("2", -2000000, 20), clock("3", 700, 600)): @unchecked
    assert(note.text === "The clock of executor 2 is 2 s behind the driver's (± < 0.1 ms): " +
      "latencies are corrected by that. 2 other clocks are off by less.")
  }

  test("nothing is said of a clock that may be right, and no warning of one that is 50 ms off or less") {
    assert(notes(clock("1", 400, 400), clock("driver", 0, 0)) === Nil)
    assert(notes(clock("1", 50400, 400)).map(_.level) === Seq(Note.Info))
    assert(notes(clock("1", -50401, 400)).map(_.level) === Seq(Note.Warn))
    assert(Seq(50400L, 50401L).map(micros => ClockNote.isFar(clock("1", micros, 400))) === Seq(false, true))
  }

  test("Prometheus has offset and bound of each executor, in seconds") {
    val lines = PrometheusText("app", Nil, None, Seq(clock("1", -2000500, 400))).text.linesIterator.toSeq
    assert(lines.filterNot(_.startsWith("#")) === Seq(
      """sparklatency_clock_offset_bound_seconds{app="app",executor="1"} 4.0E-4""",
      """sparklatency_clock_offset_seconds{app="app",executor="1"} -2.0005"""
    ))
  }

  test("an executor's id is escaped in the names of its gauges and its bean") {
    assert(Metric.ofClocks.map(DropwizardName.ofClock("a.b", _)) ===
      Seq("executor.a%2Eb.clock-offset", "executor.a%2Eb.clock-offset-bound"))
    assert(JmxName.ofClock("1").toString === "sparklatency:type=clock-metrics,executor-id=1")
    assert(JmxName.ofClock("a,b").toString === "sparklatency:type=clock-metrics,executor-id=\"a,b\"")
  }
}
