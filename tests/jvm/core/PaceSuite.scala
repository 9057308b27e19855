package io.sparklatency

import io.sparklatency.figures.Batch
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import org.scalatest.funsuite.AnyFunSuite

/** How often a run commits, and how long its batches take. */
class PaceSuite extends AnyFunSuite with MarksOfRun {
  test(
    "how often there is a commit is the median of the last ten, whatever one batch took and however the clock was set"
  ) {
    def usually(committed: Long*): Option[Double] = {
      val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
      runs.update(owner("any")) { query =>
        for ((at, number) <- committed.zipWithIndex)
          query.replay(Batch(query.name, None, None, number.toLong, at, at, 0, Map.empty, None, Nil, 0, Nil))
      }
      runs.snapshot().head.usuallyMs
    }
    assert(usually(Start) === None)
    assert(usually(Start, Start + 2000, Start + 5000) === Some(2500.0))
    val each = (0L to 10L).map(Start + 40000 * _)
    assert(usually(each: _*) === Some(40000.0))
    assert(usually(each :+ (each.last + 600000): _*) === Some(40000.0))
    assert(usually(each :+ (each.last + 40000 - 3600000): _*) === Some(40000.0), "an hour back")
    assert(usually(each :+ (each.last + 40000 + 3600000): _*) === Some(40000.0), "an hour forward")
    assert(usually(Start, Start - 3600000) === None)
  }

  test("how long a batch takes is the median of the last ten that tell it") {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def takes: Option[Double] = runs.snapshot().head.takesMs
    def batch(durations: (String, Long)*): Unit = runs.update(owner("any")) { query =>
      query.replay(Batch(query.name, None, None, 0, Start, Start, 0, durations.toMap, None, Nil, 0, Nil))
    }
    batch("addBatch" -> 7)
    assert(takes === None)
    batch("triggerExecution" -> 2000, "addBatch" -> 1900)
    assert(takes === Some(2000.0))
    batch("triggerExecution" -> 5000)
    assert(takes === Some(3500.0))
    (1 to 10).foreach(_ => batch("triggerExecution" -> 600))
    assert(takes === Some(600.0))
  }
}
