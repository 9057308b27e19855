package io.sparklatency

import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Filling
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkReadings
import io.sparklatency.recording.Ages
import org.scalatest.funsuite.AnyFunSuite

/** The parts of the age at the commit, of the batches of a run. */
class RunPartsSuite extends AnyFunSuite with MarksOfRun {

  /** With the ages of its records at a time of reference. */
  private def aged(mark: MarkReadings) = mark.copy(
    isLast = !mark.comesIn,
    readings = mark.readings.map(reading => reading.copy(ages = Some(Ages(Start, reading.summary))))
  )

  test("records that are ahead of the clock arrive young, and no less time passes in state for it") {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    var told = Option.empty[Batch]
    runs.update(owner("any")) { query =>
      val batch = query.batch(0)
      batch.holdsRecords = true
      // Of those that come out the window closes a second after they came in.
      val (in, out) = (mark("source", 0)(-60000).copy(comesIn = true), mark("sink", 1, "source")(-59000))
      query.add(Seq(aged(in), aged(out)), batch, _ => None)
      batch.committed(Start + 1000)
      told = query.commit(0)(_.copy(
        times = Some(BatchTimes(0, (Start - 400) * 1000, Some(0), Nil)),
        admission = Some(Admission.first(Start - 500, 1500))
      ))
    }
    val parts = told.flatMap(_.parts).get
    assert((
      parts.waits.arrivedOld,
      parts.work,
      parts.state,
      parts.commit
    ) === ((-60400.0, 400.0, 1000.0, 1000.0)))
    assert(parts.whole === -58000.0)
  }

  test(
    "what a join gives out waited as long as the records of the side that dates it, however many the other has"
  ) {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def parts(number: Long, by: String*): AgeParts = {
      var told = Option.empty[Batch]
      runs.update(owner("any")) { query =>
        val batch = query.batch(number)
        batch.holdsRecords = true
        val shown = mark("impressions", 0)(Seq.fill(990)(2000L): _*).copy(comesIn = true)
        val clicked = mark("clicks", 1)(Seq.fill(10)(120000L): _*).copy(comesIn = true)
        val both =
          mark("joined", 2, "impressions", "clicks")(Seq.fill(10)(120000L): _*).copy(dated = by.toSet)
        query.add(Seq(shown, clicked, both).map(aged), batch, _ => None)
        batch.committed(Start + 1000)
        told = query.commit(number)(_.copy(
          times = Some(BatchTimes(number, (Start - 400) * 1000, Some(0), Nil)),
          admission = Some(Admission.first(Start - 500, 1500))
        ))
      }
      told.flatMap(_.parts).get
    }
    def of(parts: AgeParts) = (parts.waits.whole.round, parts.work, parts.state.round, parts.commit)
    assert(of(parts(0, "clicks")) === ((119600, 400.0, 0, 1000.0)))
    // Where both date it, or nobody knows, they are told together.
    assert(of(parts(1, "impressions", "clicks")) === ((2780, 400.0, 116820, 1000.0)))
    assert(of(parts(2)) === ((2780, 400.0, 116820, 1000.0)))
  }

  test(
    "what comes out of state later is told of the batch with which it came in, and of the one before that"
  ) {
    val runs = new LiveRuns(clock, FiguresSettings(), new Tasks)(_.stopped)
    def filling(seconds: Int) = Some(Filling(seconds * 1000.0, Filling.Node, Seq("source"), seconds * 900.0))
    val (source, sink) = (mark("source", 0)(5).copy(comesIn = true), mark("sink", 1, "source")(5))
    def batch(number: Long, before: Option[Filling], marks: MarkReadings*) =
      runs.update(owner("any")) { query =>
        val open = query.batch(number)
        open.holdsRecords = true
        query.add(marks.map(aged), open, _ => None)
        open.committed(Start + 1000)
        val told = query.commit(number)(_.copy(
          before = before,
          times = Some(BatchTimes(number, Start * 1000, Some(0), Nil)),
          admission = Some(Admission.first(Start - 500, 1500))
        )).get
        (told.before, told.cameIn)
      }
    assert(batch(6, filling(120), source) === ((filling(120), None)))
    assert(batch(7, filling(60), sink) === ((filling(120), filling(60))))
    assert(batch(8, filling(1), sink) === ((filling(120), filling(60))))
    assert(batch(9, filling(2), source, sink) === ((filling(2), None)))
  }
}
