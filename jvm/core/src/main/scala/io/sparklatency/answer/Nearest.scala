package io.sparklatency.answer

import java.util.Locale

/**
 * Which names a user may have meant who wrote another. Without state, for any thread. Costs some microseconds a name, and
 * at most a tenth of a millisecond: only the beginning of a long one is looked at.
 */
private[answer] object Nearest {
  private val Longest = 64

  /** The names, first those that take the fewest changes of a letter to become `asked`. Equally near ones keep their order. */
  def sorted(asked: String, names: Seq[String]): Seq[String] = {
    val wanted = beginning(asked)
    names.map(name => name -> distance(wanted, beginning(name))).sortBy(_._2).map(_._1)
  }

  private def beginning(name: String): String = name.take(Longest).toLowerCase(Locale.ROOT)

  /** Levenshtein's: letters that are put in, taken out or changed. */
  private def distance(from: String, to: String): Int =
    from.foldLeft((0 to to.length).toIndexedSeq) { (above, letter) =>
      to.indices.scanLeft(above.head + 1) { (left, i) =>
        val changed = if (to(i) == letter) above(i) else above(i) + 1
        math.min(changed, math.min(left, above(i + 1)) + 1)
      }
    }.last
}
