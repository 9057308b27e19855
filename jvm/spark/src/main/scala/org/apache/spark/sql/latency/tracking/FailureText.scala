package org.apache.spark.sql.latency.tracking

import io.sparklatency.answer.Readable

/** What an error says, in one line of at most two hundred characters. Without state, for any thread. */
private[latency] object FailureText {
  private val Traceback = "Traceback (most recent call last):"

  private val Length = 200

  /** What went wrong has half of the line if it needs it: what stands before it may be long, and says only where. */
  private val CauseLength = 100

  /**
   * The first line. Where that begins a traceback of Python's, what the traceback ends in. Where that again ends with a colon, as it
   * does when a function of Python's failed, also what the traceback behind it ends in.
   */
  def of(error: String): String = {
    val lines = error.linesIterator.toSeq
    val first = lines.headOption.getOrElse("")
    val at = if (first.endsWith(Traceback)) lines.indexWhere(isTold, 1).max(0) else 0
    val said = lines.lift(at).getOrElse("")
    if (said.endsWith(":")) cause(lines.drop(at + 1)).fold(Readable.cut(said, Length))(both(said, _))
    else Readable.cut(said, Length)
  }

  private def both(said: String, cause: String): String = {
    val told = Readable.cut(cause, CauseLength)
    s"${Readable.cut(said, Length - 1 - told.length)} $told"
  }

  /** Of several errors, each of which came while the one before was handled, the last. */
  private def cause(behind: Seq[String]): Option[String] = {
    val ofPython = behind.takeWhile(line => !line.startsWith("\tat "))
    val last = ofPython.lastIndexWhere(_.endsWith(Traceback))
    if (last < 0) None else ofPython.drop(last + 1).find(isTold)
  }

  /** Calls, and the code of each, are indented. */
  private def isTold(line: String): Boolean = line.nonEmpty && !line.head.isWhitespace
}
