package io.sparklatency

import scala.xml.XML

import io.sparklatency.drawing.Sparkline
import org.scalatest.funsuite.AnyFunSuite

/** The line of a node in a table, as the XML that it is. */
class SparklineSuite extends AnyFunSuite {
  test("a line in a table goes from 0 to the greatest, with a gap where nothing was measured") {
    val drawn = XML.loadString(new Sparkline("p99", Seq(Some(100), Some(400), None, Some(200), Some(0))).svg)
    assert((drawn \ "polyline").map(_ \@ "points") === Seq("1,13 23,1", "67,9 89,17"))
    assert((drawn \ "title").text === "p99 of the last 5 batches, 0 ms to 400 ms")
    assert(new Sparkline("p99", Seq(Some(100), None)).svg === "")
  }

  test("a line in a table tells the greatest as it is, also where that is 0 or less") {
    def told(values: Long*) =
      (XML.loadString(new Sparkline("p99", values.map(Option(_))).svg) \ "title").text
    assert(told(0, 0) === "p99 of the last 2 batches, 0 ms to 0 ms")
    assert(told(-200, -50) === "p99 of the last 2 batches, -200 ms to -50 ms")
  }

  test("a line in a table shows a value between gaps as a dash") {
    val drawn = XML.loadString(new Sparkline("p99", Seq(Some(100), None, Some(400))).svg)
    assert((drawn \ "polyline").map(_ \@ "points") === Seq("0,13 2,13", "88,1 90,1"))
  }
}
