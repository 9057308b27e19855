package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.Measure
import io.sparklatency.figures.QuerySnapshot
import org.scalatest.funsuite.AnyFunSuite

/** What is to be known about figures: each note with its words and numbers. Here those on a run and its nodes, and their order. */
class NotesSuite extends AnyFunSuite with NotedQueries {
  import Aged._
  import Answered._

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

  test("what Spark has dropped is told before what figures say") {
    def told(of: QuerySnapshot, dropped: Long) =
      new QueryAnswer(of, Some(RunStatus.Running), droppedEvents = dropped).notes
    assert(told(of(Measure.Lateness, records(5)), 1200).map(_.code) === Seq("events-dropped", "dropped-late"))
    assert(told(clear, 1) === Seq(Note(
      "events-dropped",
      Note.Warn,
      "Since the application began Spark has dropped 1 event that figures are made of: batches may be missing, and counts too low. " +
        "A higher spark.scheduler.listenerbus.eventqueue.sparklatency.capacity makes room for more.",
      numbers = Seq("events" -> Whole(1))
    )))
    assert(told(clear, 0) === Nil)
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
