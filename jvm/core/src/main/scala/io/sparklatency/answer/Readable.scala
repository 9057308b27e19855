package io.sparklatency.answer

/** Figures and ids as people read them at a glance. */
object Readable {

  /** What is unknown, everywhere; never 0. */
  val Unknown = "–"

  private val units = Seq("d" -> 86400000.0, "h" -> 3600000.0, "min" -> 60000.0, "s" -> 1000.0, "ms" -> 1.0)

  /** A duration in the largest unit of which there is at least one, with two digits at the least: `340 ms`, `4.2 s`, `25 min`. */
  def duration(ms: Double): String = {
    val (unit, size) =
      units.find { case (_, size) => rounded(ms.abs / size) >= 1 }.getOrElse(units.last)
    s"${decimal(rounded(ms / size))} $unit"
  }

  def duration(ms: Option[Double]): String = ms.fold(Unknown)(duration)

  /** Milliseconds without their unit, for a column of them; a mean has one decimal. */
  def milliseconds(mean: Double): String = {
    val text = new StringBuilder
    addMilliseconds(mean, text)
    text.result()
  }

  /** Writes the same behind a text. */
  def addMilliseconds(mean: Double, text: StringBuilder): Unit = {
    val tenths = math.round(mean * 10)
    val whole = tenths / 10
    if (tenths < 0 && whole == 0) text += '-'
    addCount(whole, text)
    text += '.' += ('0' + (tenths % 10).abs).toChar
    ()
  }

  def count(n: Long): String = {
    val text = new StringBuilder
    addCount(n, text)
    text.result()
  }

  /** Writes the same behind a text. By hand: a page has a thousand of them, and `String.format` would take most of its time. */
  def addCount(n: Long, text: StringBuilder): Unit = {
    val first = text.length + (if (n < 0) 1 else 0)
    text.append(n)
    (text.length - 3 until first by -3).foreach(text.insert(_, ','))
  }

  /** A number and what it counts. */
  def counted(n: Long, one: String, more: String): String = s"${count(n)} ${if (n == 1) one else more}"

  /** `a`, `a and b`, `a, b and c`. */
  def all(names: Seq[String]): String = names match {
    case Seq() | Seq(_) => names.mkString
    case _ => s"${names.init.mkString(", ")} and ${names.last}"
  }

  /** A part of a whole, between 0 and 1. */
  def percent(share: Double): String =
    if (share > 0 && share < 0.01) "< 1 %" else s"${math.round(share * 100)} %"

  /** What a part of a whole takes: `4.2 s of 6 s (70 %)`. */
  def part(ms: Double, whole: Double, share: Double): String =
    s"${duration(ms)} of ${duration(whole)} (${percent(share)})"

  /** At most `length` characters: the middle goes, so that ids which end differently stay different. */
  def shortened(id: String, length: Int): String =
    if (this.length(id) <= length) id
    else {
      val tail = (length - 1) / 2
      val head = length - 1 - tail
      id.substring(
        0,
        id.offsetByCodePoints(0, head)
      ) + "…" + id.substring(id.offsetByCodePoints(id.length, -tail))
    }

  /** A name or id within a sentence: on one line, of at most so many characters, the rest gone from its middle. */
  def name(raw: String): String =
    if (raw.length <= NameLength && raw.forall(isPlain)) raw
    else {
      val pieces = ends(raw).codePoints.toArray.toSeq.map(printable)
      if (pieces.map(length).sum <= NameLength) pieces.mkString
      else {
        val tail = fitting(pieces.reverse, (NameLength - 1) / 2).reverse.mkString
        fitting(pieces, NameLength - 1 - length(tail)).mkString + "…" + tail
      }
    }

  /**
   * Names in a sentence, in their order. Of many only some, and how many more there are: the nearest to the one that was asked
   * for, else the first.
   */
  def names(raw: Seq[String], asked: Option[String] = None): String =
    if (raw.size <= Names) quoted(raw)
    else {
      val nearest = asked.fold(raw)(Nearest.sorted(_, raw)).take(Names)
      s"${quoted(nearest)} and ${count(raw.size.toLong - Names)} more"
    }

  /** Names in a sentence, the first `shown` of them; of more it says how many. */
  def names(raw: Seq[String], shown: Int): String =
    if (raw.size <= shown) all(raw.map(name))
    else s"${raw.take(shown).map(name).mkString(", ")} and ${count(raw.size.toLong - shown)} more"

  /** Ids of nodes in a sentence. */
  def nodes(ids: Seq[String]): String = names(ids, Nodes)

  private def quoted(names: Seq[String]): String = names.map(one => s"'${name(one)}'").mkString(", ")

  /** The beginning of a text, on one line. */
  def cut(raw: String, length: Int = TextLength): String =
    if (raw.length <= length && raw.forall(isPlain)) raw
    else {
      val seen = raw.take(2 * (length + 1)) // the rest may be as long as it likes
      val pieces = seen.codePoints.toArray.toSeq.map(printable)
      if (pieces.map(this.length).sum <= length) pieces.mkString
      else fitting(pieces, length - 1).mkString + "…"
    }

  private val NameLength = 48
  private val TextLength = 200

  /** How many names a sentence can hold. */
  private val Names = 10

  /** How many nodes one can. */
  private val Nodes = 4

  /** Both ends of a text, as much of each as may be seen: the middle may be as long as it likes. */
  private def ends(raw: String): String = {
    val most = 2 * (NameLength + 1) // a character may be two of Java's
    if (raw.length <= 2 * most) raw else raw.take(most) + raw.takeRight(most)
  }

  /** The first of the pieces that have this length together. */
  private def fitting(pieces: Seq[String], together: Int): Seq[String] =
    pieces.zip(pieces.scanLeft(0)(_ + length(_)).tail).takeWhile(_._2 <= together).map(_._1)

  private def length(text: String): Int = text.codePointCount(0, text.length)

  /** Of ASCII, what can be seen: most ids and texts have nothing else. */
  private def isPlain(char: Char): Boolean = char >= ' ' && char <= '~'

  /** What cannot be seen is written as in Python. */
  private def printable(char: Int): String = char match {
    case '\n' => "\\n"
    case '\r' => "\\r"
    case '\t' => "\\t"
    case ' ' => " "
    case _ if !Invisible(Character.getType(char).toByte) => Character.toString(char)
    case _ if char < 0x100 => f"\\x$char%02x"
    case _ if char < 0x10000 => f"\\u$char%04x"
    case _ => f"\\U$char%08x"
  }

  private val Invisible = Set(
    Character.CONTROL,
    Character.FORMAT,
    Character.SURROGATE,
    Character.PRIVATE_USE,
    Character.UNASSIGNED,
    Character.LINE_SEPARATOR,
    Character.PARAGRAPH_SEPARATOR,
    Character.SPACE_SEPARATOR
  )

  private def rounded(value: Double): Double =
    if (value.abs < 9.95) tenths(value) else math.round(value).toDouble

  /** Never the negative zero that formats would show as such. */
  private def tenths(value: Double): Double = math.round(value * 10) / 10.0

  private def decimal(value: Double): String = if (value.isWhole) count(value.toLong) else value.toString
}
