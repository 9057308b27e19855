package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.Held
import io.sparklatency.figures.Measure
import org.scalatest.funsuite.AnyFunSuite

/** What is noted of records that were dropped late, that have no timestamp, or one that lies in the future. */
class RecordNotesSuite extends AnyFunSuite with NotedQueries {
  import Aged._
  import Answered._

  test("what Spark counts as dropped late is told where no node counts it") {
    val late = clear.copy(droppedLate = 1200)
    noted(
      late,
      "rows-dropped-late",
      Note.Info,
      "Operators of the query have dropped 1,200 rows as late. To see which ones, and how late the rows were, add stateful to spark.sparklatency.auto, set spark.sparklatency.recording.level=TRACE, and start the query again."
    )
    assert(notes(of(Measure.Lateness, records(5)).copy(droppedLate = 1), "rows-dropped-late") === Nil)
    assert(late.rowsDroppedLate === Some(1200) && late.copy(batches = 0).rowsDroppedLate === None)
  }

  test("records that a node dropped for the watermark are counted") {
    val many = noted(
      of(Measure.Lateness, records((1L to 1234L).map(_ => 5200L): _*)),
      "dropped-late",
      Note.Info,
      "sink dropped 1,234 late records, up to 5.2 s behind the watermark."
    )
    assert((
      many.node,
      many.numbers
    ) === ((Some("sink"), Seq("records" -> Whole(1234), "maxMs" -> Whole(5200)))))
    noted(
      of(Measure.Lateness, records(7)),
      "dropped-late",
      Note.Info,
      "sink dropped 1 late record, up to 7 ms behind the watermark."
    )
    val unknown = noted(
      of(Measure.Lateness, withSomeMore(2)()),
      "dropped-late",
      Note.Info,
      "sink dropped 2 late records."
    )
    assert(unknown.numbers === Seq("records" -> Whole(2)))
    noted(
      of(Measure.SystemTimeLateness, records(7)),
      "dropped-late-by-system-time",
      Note.Info,
      "sink dropped 1 late record, up to 7 ms behind the system-time watermark."
    )
  }

  test("records without a timestamp are counted, for they are in no figure") {
    val some = noted(
      of(Measure.E2ELatency, withSomeMore(12)((1L to 28L): _*)),
      "without-timestamp",
      Note.Warn,
      "sink: 12 of 40 records have no timestamp and are not measured."
    )
    assert((some.node, some.numbers) ===
      ((Some("sink"), Seq("records" -> Whole(40), "withoutTimestamp" -> Whole(12)))))
    noted(
      of(Measure.E2ELatency, withSomeMore(1)(5)),
      "without-timestamp",
      Note.Warn,
      "sink: 1 of 2 records has no timestamp and is not measured."
    )
  }

  test("a node none of whose records has a timestamp is marked with the wrong column") {
    val all = of(Measure.E2ELatency, withSomeMore(3)())
    val note = noted(
      all,
      "no-timestamp",
      Note.Wrong,
      "sink: no record has a timestamp: each is null or before 1970. Mark it with another column."
    )
    assert((note.node, note.numbers) ===
      ((Some("sink"), Seq("records" -> Whole(3), "withoutTimestamp" -> Whole(3)))))
    assert(notes(all, "without-timestamp") === Nil)
  }

  test("records whose timestamp lies in the future are counted") {
    val note = noted(
      of(Measure.E2ELatency, records(-1, -3, 5)),
      "ahead-of-clock",
      Note.Warn,
      "sink: 2 records are ahead of the clock, by up to 3 ms."
    )
    assert((
      note.node,
      note.numbers
    ) === ((Some("sink"), Seq("records" -> Whole(2), "maxLeadMs" -> Whole(3)))))
    noted(
      of(Measure.E2ELatency, records(-1, 5)),
      "ahead-of-clock",
      Note.Warn,
      "sink: 1 record is ahead of the clock, by up to 1 ms."
    )
  }

  test("where windows give out what there is so far, that they are dated ahead is no warning") {
    val told = Aged.node("sink")(-60000).copy(held = Some(Held(windowMs = Some(60000), eachBatch = true)))
    val batch = Batch("orders", None, Some("run"), 7, 90000, 100000, 1, Map.empty, None, Nil, 0, Seq(told))
    def ahead(ms: Long) = of(Measure.E2ELatency, records(-ms)).copy(lastBatch = Some(batch))
    noted(
      ahead(60000),
      "ahead-of-clock",
      Note.Info,
      "sink: 1 record is ahead of the clock, by up to 1 min. They may be results of windows that are still open, dated by their end."
    )
    noted(
      ahead(61000),
      "ahead-of-clock",
      Note.Warn,
      "sink: 1 record is ahead of the clock, by up to 1 min."
    )
  }

  test(
    "where records are further ahead than clocks go wrong, what may be wrong with their timestamps is asked"
  ) {
    def ahead(ms: Long) =
      notes(query(sink.and(Measure.E2ELatency, records(-ms))), "ahead-of-clock").map(_.text)
    assert(ahead(899999) === Seq("sink: 1 record is ahead of the clock, by up to 15 min."))
    assert(ahead(32400000) ===
      Seq("sink: 1 record is ahead of the clock, by up to 9 h. Is the time zone of its timestamp right?"))
    assert(ahead(1794100592165979L) === Seq(
      "sink: 1 record is ahead of the clock, by up to 20,765,053 d. Were milliseconds taken for seconds? timestamp_millis reads them."
    ))
  }

  test("what is counted is all since the start, in silence too") {
    assert(notes(silent(source, sink.and(Measure.Lateness, records(5))), "dropped-late").map(_.text) ===
      Seq("sink dropped 1 late record, up to 5 ms behind the watermark."))
  }
}
