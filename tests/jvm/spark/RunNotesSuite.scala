package org.apache.spark.sql.latency.tracking

import io.sparklatency.answer.Note
import org.scalatest.funsuite.AnyFunSuite

/** What is kept of many runs of an application that runs for months. */
class RunNotesSuite extends AnyFunSuite {
  test("what was found in a run is kept while it is active, and of the last hundred others") {
    var active = Set("first", "1")
    val notes = new RunNotes(() => active)
    def found(run: String, text: String): Unit = notes.add(run, Note("a-code", Note.Info, text))
    def have: Seq[Int] = (1 to 150).filter(run => notes.of(run.toString).nonEmpty)
    found("first", "b")
    found("first", "a")
    found("second", "c")
    for (run <- 1 to 150) found(run.toString, "d")
    assert(notes.of("first").map(_.text) === Seq("a", "b"))
    assert(notes.of("second") === Nil)
    assert(have === 1 +: (51 to 150))

    active = Set.empty
    found("last", "e")
    assert(notes.of("first") === Nil)
    assert(have === (52 to 150))
  }
}
