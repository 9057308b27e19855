package io.sparklatency

import io.sparklatency.answer.Note
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.recording.LatencySummary
import org.scalatest.Assertions

/** A query of which nothing is to be noted, and what is noted where one thing is otherwise. */
trait NotedQueries extends Assertions {
  import Aged._
  import Answered._

  protected val source: NodeLatencies = node("source")(100, 300)
  protected val sink: NodeLatencies = node("sink", "source")(500, 700).committed(600, 800)
  protected val clear: QuerySnapshot = query(source, sink)

  protected def noted(of: QuerySnapshot, code: String, level: Note.Level, text: String): Note = {
    val found = notes(of, code)
    assert(found.map(note => (note.level, note.text)) === Seq((level, text)))
    found.head
  }

  protected def of(measure: Measure, records: LatencySummary): QuerySnapshot =
    query(source, sink.and(measure, records))
}
