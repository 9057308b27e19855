package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.Waits
import org.scalatest.funsuite.AnyFunSuite

/** What is noted of the parts of a latency: which are unknown, and why they do not add up to the age at the end. */
class PartNotesSuite extends AnyFunSuite with NotedQueries {
  import Aged._
  import Answered._

  test("where a node gives out younger records than it takes in, the whole is more than the age at the end") {
    val note = noted(
      query(node("source")(4000), sink.copy(measures = node("")(3100).measures)),
      "younger-downstream",
      Note.Info,
      "The nodes' own times add up to 4 s, and records are 3.1 s old at the end: those that leave sink are younger on average than those that come to it."
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
      "The nodes' own times add up to 1 s, and records are 100 ms old at the end: those that leave b and d are younger on " +
        "average than those that come to them."
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
      "parsed goes by event_time, and source before it by timestamp. These are two timestamps, so parsed has no own time: the difference " +
        "between the two belongs to no step."
    )
    assert(note.node === Some("parsed"))
    val both = parsed.copy(upstream = Seq("source", "paid", "not shown"))
    assert(notes(query(read, paid, both), "another-timestamp").map(_.text.takeWhile(_ != '.')) ===
      Seq("parsed goes by event_time, and source and paid before it by timestamp"))
    assert(notes(query(parsed), "another-timestamp") === Nil, "none is shown before it")
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
      "How the age splits into source queuing and processing is not known: that takes a node where the query reads its sources and another behind it."
    )(node("sink")(500).committed(600))
  }

  test("source nodes that measured nothing are said to be the reason") {
    ofParts(
      "none-at-source",
      "How the age splits into source queuing and processing is not known: no record with a timestamp came from the sources."
    )(node("source")(), sink)
  }

  test("where a batch tells the parts, nothing is said of a split that takes another node") {
    val parts = AgeParts("sink", Waits(10, 10, 10, 10, 10), 10, 0, 10)
    for (nodes <- Seq(Seq(node("sink")(500).committed(600)), Seq(node("source")(), sink))) {
      val told = query(nodes: _*)
      val explained = Batch("orders", None, None, 7, 10000, 56000, 1, Map.empty, None, Nil, 0, nodes)
      val codes = Seq(None, Some(explained.copy(parts = Some(parts))))
        .map(batch =>
          answer(told.copy(explained = batch)).notes.map(_.code).filter(Set("no-source", "none-at-source"))
        )
      assert(codes.map(_.size) === Seq(1, 0))
    }
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
}
