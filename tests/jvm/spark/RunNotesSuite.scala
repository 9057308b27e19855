package org.apache.spark.sql.latency.tracking

import io.sparklatency.answer.Note
import org.scalatest.funsuite.AnyFunSuite

/** What was told of many runs of an application that runs for months. */
class RunNotesSuite extends AnyFunSuite {
  test("each sentence is told once of a run while that is active, and of the last hundred others") {
    var active = Set("first", "1")
    val notes = new RunNotes(() => active)
    def isNew(run: String, text: String): Boolean = notes.add(run, Note("a-code", Note.Info, text))
    assert(Seq("b", "a", "b").map(isNew("first", _)) === Seq(true, true, false))
    assert(isNew("second", "b"))
    for (run <- 1 to 150) assert(isNew(run.toString, "d"))
    assert(!isNew("first", "a") && !isNew("1", "d") && !isNew("51", "d"))
    assert(isNew("second", "b"))

    assert((1 to 150).count(text => isNew("talks", text.toString)) === RunNotes.Most)

    active = Set.empty
    isNew("last", "e")
    assert(isNew("first", "a"))
  }
}
