package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.QuerySnapshot
import org.scalatest.funsuite.AnyFunSuite

/** What is to be known about figures: each note with its words and numbers. */
class NotesSuite extends AnyFunSuite {
  import Aged._
  import Answered._

  /** Nothing is to be noted of these. */
  private val source = node("source")(100, 300)
  private val sink = node("sink", "source")(500, 700).committed(600, 800)
  private val clear = query(source, sink)

  private def noted(of: QuerySnapshot, code: String, level: Note.Level, text: String): Note = {
    val found = notes(of, code)
    assert(found.map(note => (note.level, note.text)) === Seq((level, text)))
    found.head
  }

  private def of(measure: Measure, records: recording.LatencySummary): QuerySnapshot =
    query(source, sink.and(measure, records))

  test("what Spark counts as dropped late is told where no node counts it") {
    val late = clear.copy(droppedLate = 1200)
    noted(
      late,
      "rows-dropped-late",
      Note.Info,
      "Operators of the query have dropped 1,200 rows as late. Automatic stateful nodes, at level TRACE, tell at which, and by how much."
    )
    assert(notes(of(Measure.Lateness, records(5)).copy(droppedLate = 1), "rows-dropped-late") === Nil)
    assert(late.rowsDroppedLate === Some(1200) && late.copy(batches = 0).rowsDroppedLate === None)
  }

  test("of a query that is as one wants it nothing is noted") {
    assert(answer(clear, Some(RunStatus.Running)).notes === Nil)
    assert(answer(clear, Some(RunStatus.Finished)).notes === Nil)
  }

  test("a run that an error ended has that as its first note") {
    val late = of(Measure.Lateness, records(5))
    assert(answer(late, Some(RunStatus.Failed)).notes.map(_.code) === Seq("failed", "dropped-late"))
    assert(answer(clear, Some(RunStatus.Failed)).notes ===
      Seq(Note("failed", Note.Wrong, "An error ended this run.")))
  }

  test("before the first record that is all there is to say") {
    assert(answer(query(node("source")(), node("sink", "source")())).notes ===
      Seq(Note("no-record", Note.Info, "No record has come yet.")))
    assert(answer(query()).notes.map(_.code) === Seq("no-record"))
  }

  test("in silence it is said how long there was none, and what is shown") {
    val note = noted(
      silent(source, sink),
      "silent",
      Note.Info,
      "No record with a timestamp came within the last 1 min: each node shows its last batch."
    )
    assert(note.numbers === Seq("windowMs" -> Whole(60000)))
    def ago(committed: Long*) = {
      val nodes = silent(source, sink).nodes.zip(committed).map { case (node, ms) =>
        node.copy(batchMs = Some(ms))
      }
      notes(silent().copy(nodes = nodes, atMs = Some(200000)), "silent").map(_.text.split(": ").last)
    }
    assert(ago(20000, 20000) === Seq("each node shows its last batch, 3 min ago."))
    assert(ago(80000, 20000) === Seq("each node shows its last batch, 2 min to 3 min ago."))
    assert(
      ago(900000, 900000) === Seq("each node shows its last batch, 0 ms ago."),
      "the clock was set back behind it"
    )
  }

  test("of a node that is quiet for longer than the window it is said, and since when") {
    val quiet = silent(node("read")(1), sink).nodes.drop(1).map(_.copy(batchMs = Some(20000L)))
    val some = clear.copy(nodes = clear.nodes.take(1) ++ quiet, atMs = Some(200000L))
    noted(
      some,
      "last-figures",
      Note.Info,
      "No record came to sink within the window: sink shows its last batch, 3 min ago."
    )
    assert(answer(some).path.critical === Seq("source", "sink"))
    assert(answer(some).path.nodes.map(answer(some).path.share(_)) === Seq(Some(2 / 6.0), Some(4 / 6.0)))
    assert(notes(clear, "last-figures") === Nil)
  }

  test("where a node gives out younger records than it takes in, the whole is more than the age at the end") {
    val note = noted(
      query(node("source")(4000), sink.copy(measures = node("")(3100).measures)),
      "younger-downstream",
      Note.Info,
      "The whole is more than the mean age at the end, 3.1 s: records that leave sink are younger on average than those that come to it."
    )
    assert((note.node, note.numbers) ===
      ((Some("sink"), Seq("wholeMs" -> Mean(4000), "endMs" -> Mean(3100)))))
  }

  test("several nodes that do so are named together") {
    val two = query(node("a")(900), node("b", "a")(800), node("c", "b")(850), node("d", "c")(100))
    val note = noted(
      two,
      "younger-downstream",
      Note.Info,
      "The whole is more than the mean age at the end, 100 ms: records that leave b and d are younger on average than those that come to them."
    )
    assert(note.node === None)
  }

  test("less than half a millisecond, which no figure shows, is not noted") {
    assert(notes(
      query(node("source")(10, 11, 11), node("sink", "source")(10, 10, 11)),
      "younger-downstream"
    ) === Nil)
    val two = query(node("a")(10, 11, 11), node("b", "a")(10, 10, 11), node("c", "b")(1))
    assert(notes(two, "younger-downstream").map(_.node) === Seq(Some("c")))
  }

  test("a whole that is the mean age at the end is not said to be more") {
    // The time before the merge is unknown, and what the last node takes away is missing from no sum.
    val unknown = query(node("gone")(), node("merge", "gone")(150), node("last", "merge")(120))
    assert(notes(unknown, "younger-downstream") === Nil)
  }

  test("a node that goes by another timestamp than those before it is noted with both") {
    val (read, paid) = (source.by("timestamp"), node("paid")(1).by("timestamp"))
    val parsed = node("parsed", "source")(60500).by("event_time", isAnother = true)
    val note = noted(
      query(read, parsed),
      "another-timestamp",
      Note.Info,
      "parsed goes by event_time, and source before it by timestamp: what has passed between two timestamps of a record is the time of " +
        "no step."
    )
    assert(note.node === Some("parsed"))
    val both = parsed.copy(upstream = Seq("source", "paid", "not shown"))
    assert(notes(query(read, paid, both), "another-timestamp").map(_.text.takeWhile(_ != ':')) ===
      Seq("parsed goes by event_time, and source and paid before it by timestamp"))
    assert(notes(query(parsed), "another-timestamp") === Nil, "none is shown before it")
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

  test("nodes that are too many are said to be folded") {
    val note = noted(
      clear.copy(folded = 12),
      "folded",
      Note.Warn,
      "12 nodes and tasks are too many to show one by one: they are added up in __other__."
    )
    assert(note.numbers === Seq("folded" -> Whole(12)))
    noted(
      clear.copy(folded = 1),
      "folded",
      Note.Warn,
      "1 node or task is too many to show by itself: it is added up in __other__."
    )
  }

  /** The only note on a batch of these nodes. */
  private def ofParts(code: String, text: String)(nodes: NodeLatencies*): Unit =
    assert(answer(query(nodes: _*)).notes === Seq(Note(code, Note.Info, text)))

  test("that no record reached the end is noted, and nothing else about the parts") {
    ofParts("no-end", "No record with a timestamp reached the end of the query in the last batch.")(
      node("source")(1),
      node("sink", "source")()
    )
    assert(answer(query(node("source")(1), node("sink", "source")())).notes.map(_.code) === Seq("no-end"))
    val unmeasured = query(node("sink")().and(Measure.E2ELatency, withSomeMore(2)()))
    assert(answer(unmeasured).notes.map(_.code) === Seq("silent", "no-timestamp", "no-end"))
  }

  test("without a node at the sources it is said what that costs") {
    ofParts(
      "no-source",
      "Source queuing and processing cannot be told apart: that takes a node where the query reads its sources and another behind it."
    )(node("sink")(500).committed(600))
  }

  test("source nodes that measured nothing are said to be the reason") {
    ofParts(
      "none-at-source",
      "Source queuing and processing cannot be told apart: no record with a timestamp came from the sources."
    )(node("source")(), sink)
  }

  test("a commit that was not measured is said to be unknown") {
    ofParts("no-commit", "Commit is unknown: it was not measured at the last nodes of the query.")(
      source,
      node("sink", "source")(500, 700)
    )
  }

  test("that the parts are of different records is noted") {
    ofParts(
      "different-records",
      "More or fewer records reached the end than came in: the parts compare different records, and one may be negative."
    )(source, node("sink", "source")(500).committed(600))
  }

  test("where no batch ends, results can be seen before the commit, and no batch is waited for") {
    val text = "Commit is unknown: in real-time and continuous mode results can be seen before it."
    val running = withoutEnd(source, node("sink", "source")(500, 700))
    assert(answer(running).notes === Seq(Note("no-commit", Note.Info, text)))
    noted(
      withoutEnd(source, node("sink", "source")()),
      "no-end",
      Note.Info,
      "No record with a timestamp has reached the end of the query yet."
    )
  }

  test("records of a batch that is not committed yet have no parts") {
    val running = clear.copy(nodes = clear.nodes.map(_.copy(batch = Map.empty)))
    assert(answer(running).notes ===
      Seq(Note("no-batch", Note.Info, "No batch with records at a marked node has been committed yet.")))
  }

  test("a query that is shown by its id is said to have no name, last of all") {
    val text =
      "The query is shown by its id: it has no name, or another running query has the same. Name it by .queryName(…) to find it again."
    noted(clear.copy(name = "id"), "unnamed", Note.Warn, text)
    val batchQueries = clear.copy(name = "__batch__", id = None, runId = None)
    assert(notes(batchQueries, "unnamed") === Nil)
  }

  test("notes stand in one order, those of a kind in the order of the plan") {
    val all = QuerySnapshot("id", Some("id"), Some("run"), 1, Nil, folded = 2, None, Some(5)).copy(nodes =
      silent(
        node("a")().and(Measure.E2ELatency, withSomeMore(1)(-1, 900)).and(Measure.Lateness, records(1)),
        node("b", "a")().and(Measure.E2ELatency, withSomeMore(1)(-5, 5)).and(Measure.Lateness, records(1))
      ).nodes
    )
    assert(answer(all, Some(RunStatus.Failed)).notes.map(note =>
      note.code -> note.node.getOrElse("")
    ) === Seq(
      "failed" -> "",
      "silent" -> "",
      "younger-downstream" -> "b",
      "dropped-late" -> "a",
      "dropped-late" -> "b",
      "without-timestamp" -> "a",
      "without-timestamp" -> "b",
      "ahead-of-clock" -> "a",
      "ahead-of-clock" -> "b",
      "folded" -> "",
      "no-commit" -> "",
      "unnamed" -> ""
    ))
  }

  test("a node's name is shown on one line") {
    val note = notes(query(node("a\nb")(-3)), "ahead-of-clock").head
    assert((
      note.text,
      note.node
    ) === (("a\\nb: 1 record is ahead of the clock, by up to 3 ms.", Some("a\nb"))))
  }
}
