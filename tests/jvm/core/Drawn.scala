package io.sparklatency

import scala.xml.Elem

/** Drawings, read as the XML that they are. */
trait Drawn {
  protected def texts(of: Elem, style: String): Seq[String] =
    (of \\ "text").filter(_ \@ "class" == style).map(_.text)
}
