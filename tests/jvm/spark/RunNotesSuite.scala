package org.apache.spark.sql.latency.tracking

import io.sparklatency.answer.Note
import org.scalatest.funsuite.AnyFunSuite

/** What was told of the runs of an application that runs for months. */
class RunNotesSuite extends AnyFunSuite {
  test("each sentence is told once of a run as long as it lasts, and at most a hundred are") {
    val notes = new RunNotes
    def isNew(run: String, text: String): Boolean = notes.add(run, Note("a-code", Note.Info, text))
    assert(Seq("b", "a", "b").map(isNew("first", _)) === Seq(true, true, false))
    assert(isNew("second", "b"))
    notes.forget("second")
    assert(isNew("second", "b") && !isNew("first", "a"))

    assert((1 to 150).count(text => isNew("talks", text.toString)) === RunNotes.Most)
  }
}
