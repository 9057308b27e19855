package io.sparklatency.answer

import io.sparklatency.figures.Figure

/**
 * Something to know about a query's figures, as a sentence and as data.
 *
 * @param code    the same for all notes of a kind
 * @param node    the id of the node that it is about, if it is about one
 * @param numbers those in the sentence, by name
 */
final case class Note(
    code: String,
    level: Note.Level,
    text: String,
    node: Option[String] = None,
    numbers: Seq[(String, Figure)] = Nil
)

object Note {
  sealed abstract class Level(val name: String) extends Product with Serializable

  /** How the figures are to be read. */
  case object Info extends Level("info")

  /** They may be incomplete, or not what one thinks. */
  case object Warn extends Level("warn")

  /** Something has to be put right. */
  case object Wrong extends Level("wrong")

  object Level {
    def of(name: String): Option[Level] = Seq(Info, Warn, Wrong).find(_.name == name)
  }
}
