package org.apache.spark.sql.latency.ui

import scala.xml.Elem
import scala.xml.Unparsed

import io.sparklatency.drawing.Stylesheet

/**
 * The style sheet within a page, so that no page needs a second request. Made once for each process; any thread may read it.
 */
private[ui] object LatencyStyle {

  /** Unparsed, because a browser unescapes nothing in a style sheet. */
  val element: Elem = <style>{Unparsed(Stylesheet.css)}</style>
}
