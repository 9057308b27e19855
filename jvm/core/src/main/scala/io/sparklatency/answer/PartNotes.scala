package io.sparklatency.answer

import io.sparklatency.path.LatencySplit

/** What is not known of the parts of the age at the commit, and why. */
private[answer] object PartNotes {

  /**
   * @param split    of each node's last batch, where one with records was committed; where no batch ends, of the window
   * @param ofOthers whether parts may be of other records than come out
   * @param areTold  whether a batch has told its parts by other ways than nodes
   */
  def of(split: LatencySplit, hasNoEnd: Boolean, ofOthers: Boolean, areTold: Boolean): Seq[Note] = {
    val hasEnd = split.atEnd.count > 0
    val hasSource = split.queuing.count > 0
    Seq(
      !hasEnd -> (if (hasNoEnd) noEndYet else noEnd),
      (hasEnd && !split.hasSource && !areTold) -> noSource,
      (hasEnd && split.hasSource && !hasSource && !areTold) -> noneAtSource,
      (hasEnd && split.committed.count == 0) -> (if (hasNoEnd) atOnce else noCommit),
      (ofOthers && split.processing.exists(!_.sameRecords)) -> differentRecords
    ).collect { case (true, note) => note }
  }

  private val noEnd =
    info("no-end", "No record with a timestamp reached the end of the query in the last batch.")

  private val noEndYet =
    info("no-end", "No record with a timestamp has reached the end of the query yet.")

  private val atOnce =
    info("no-commit", "Commit is unknown: in real-time and continuous mode results can be seen before it.")

  private val noSource = info(
    "no-source",
    "How the age splits into source queuing and processing is not known: that takes a node where the query reads its sources and " +
      "another behind it."
  )

  private val noneAtSource = info(
    "none-at-source",
    "How the age splits into source queuing and processing is not known: no record with a timestamp came from the sources."
  )

  private val noCommit =
    info("no-commit", "Commit is unknown: it was not measured at the last nodes of the query.")

  private val differentRecords = info(
    "different-records",
    "More or fewer records reached the end than came in: the parts compare different records, and one may be negative."
  )

  private def info(code: String, text: String) = Note(code, Note.Info, text)
}
