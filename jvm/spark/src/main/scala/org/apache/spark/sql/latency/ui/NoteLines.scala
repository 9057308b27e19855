package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.answer.Note

/**
 * What a reader must know about the figures, a line each. The sentences come from the answer, so every surface has the same.
 * Costs nothing but the lines; without state, made by a thread of the web server.
 */
private[ui] object NoteLines {

  def apply(notes: Seq[Note]): NodeSeq = NodeSeq.fromSeq(notes.map(note =>
    <p class={s"latency-note latency-note-${note.level.name}"}>{note.text}</p>
  ))
}
