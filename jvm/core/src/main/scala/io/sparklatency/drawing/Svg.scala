package io.sparklatency.drawing

/** Writes SVG as text, and escapes attributes. Text content is escaped with [[XmlText]]. */
private[sparklatency] object Svg {

  /** An element. Numbers in attributes have at most one decimal: a tenth of a pixel. What is built of numbers is not escaped. */
  def element(name: String, attributes: (String, Any)*)(content: String*): String = {
    val text = new StringBuilder
    text += '<' ++= name
    attributes.foreach { case (attribute, value) =>
      text += ' ' ++= attribute ++= "=\""
      value match {
        case number: Double => write(number, text)
        case number: Int => text ++= number.toString
        case built: StringBuilder => text.append(built)
        case other => XmlText.escape(other.toString, text)
      }
      text += '"'
    }
    if (content.isEmpty) text ++= "/>"
    else {
      text += '>'
      content.foreach(text ++= _)
      text ++= "</" ++= name += '>'
    }
    text.result()
  }

  /**
   * A whole drawing.
   *
   * @param says what a reader hears who does not see it
   */
  def root(
      style: String,
      width: Double,
      height: Double,
      role: String,
      says: String,
      more: (String, Any)*
  )(content: String*): String = {
    val box = s"0 0 ${number(width)} ${number(height)}"
    val attributes: Seq[(String, Any)] =
      Seq("xmlns" -> "http://www.w3.org/2000/svg", "class" -> style) ++ more ++
        Seq("viewBox" -> box, "role" -> role, "aria-label" -> says)
    element("svg", attributes: _*)(content: _*)
  }

  def rect(
      style: String,
      x: Double,
      y: Double,
      width: Double,
      height: Double,
      more: (String, Any)*
  ): String = {
    val place: Seq[(String, Any)] =
      Seq("class" -> style, "x" -> x, "y" -> y, "width" -> width, "height" -> height)
    element("rect", place ++ more: _*)()
  }

  /**
   * Adds a rectangle to a path, in as few characters as can be: a chart has hundreds. Numbers are as [[number]] has them, for neighbours
   * have most of them in common.
   */
  def area(left: String, top: String, right: String, bottom: String)(path: StringBuilder): Unit = {
    path ++= "M" ++= left ++= "," ++= top ++= "V" ++= bottom ++= "H" ++= right ++= "V" ++= top ++= "z"
    ()
  }

  /**
   * Adds what a mouse over a rectangle tells.
   *
   * @param told escaped
   */
  def hint(
      told: String,
      left: String,
      top: String,
      right: String,
      bottom: String
  )(hints: StringBuilder): Unit = {
    hints ++= "<path d=\""
    area(left, top, right, bottom)(hints)
    hints ++= "\"><title>" ++= told ++= "</title></path>"
    ()
  }

  /** All hints of a chart. They come last, over all else. */
  def hints(all: StringBuilder): String = element("g", "class" -> "latency-hints")(all.result())

  /** Coordinates for `points` or a path. */
  def number(value: Double): String = {
    val text = new StringBuilder(8)
    write(value, text)
    text.result()
  }

  /** The same, by hand: a page has thousands of them. */
  private def write(value: Double, text: StringBuilder): Unit = {
    val tenths = math.round(value * 10)
    val whole = tenths / 10
    val rest = (tenths % 10).abs
    if (tenths < 0 && whole == 0) text += '-'
    text.append(whole)
    if (rest != 0) text += '.' += ('0' + rest).toChar
    ()
  }

  /** Adds a point to a line. */
  def point(x: String, y: Double, line: StringBuilder): Unit = {
    if (line.nonEmpty) line += ' '
    line ++= x += ','
    write(y, line)
  }
}
