package io.sparklatency

import io.sparklatency.figures.SourceWatermark
import org.scalatest.funsuite.AnyFunSuite

/** The watermarks of several sources, and which of them holds the query back. */
class SourceWatermarkSuite extends AnyFunSuite {

  private def at(source: String, ms: Option[Long]) = SourceWatermark(source, "ts", 10, ms, holdsBack = false)

  private def holders(policyIsMax: Boolean)(watermarks: SourceWatermark*): Seq[String] =
    SourceWatermark.heldBack(watermarks, policyIsMax).filter(_.holdsBack).map(_.source)

  test("by the policy min the least holds the query back, by max the greatest") {
    val both = Seq(at("orders", Some(100)), at("clicks", Some(200)))
    assert(holders(policyIsMax = false)(both: _*) === Seq("orders"))
    assert(holders(policyIsMax = true)(both: _*) === Seq("clicks"))
  }

  test("a source that has seen nothing yet is the least") {
    assert(holders(policyIsMax = false)(at("orders", Some(100)), at("clicks", None)) === Seq("clicks"))
    assert(holders(policyIsMax = true)(at("orders", Some(100)), at("clicks", None)) === Seq("orders"))
  }

  test("those that stand at the same time hold it back together") {
    assert(holders(policyIsMax =
      false
    )(at("a", Some(5)), at("b", Some(5)), at("c", Some(6))) === Seq("a", "b"))
  }

  test("a watermark is the greatest event time less its delay, and never goes back") {
    val first = at("orders", None).advanced(Some(100))
    assert(first.watermarkMs === Some(90))
    assert(first.advanced(Some(50)).watermarkMs === Some(90))
    assert(first.advanced(None).watermarkMs === Some(90))
    assert(first.advanced(Some(120)).watermarkMs === Some(110))
    assert(at("orders", None).advanced(None).watermarkMs === None)
  }

  test("an idle source holds nobody back, unless all are idle") {
    def idle(source: String, ms: Long) = at(source, Some(ms)).copy(idleSinceMs = Some(5))
    assert(holders(policyIsMax = false)(idle("orders", 100), at("clicks", Some(200))) === Seq("clicks"))
    assert(holders(policyIsMax = false)(idle("orders", 200), at("clicks", Some(200))) === Seq("clicks"))
    assert(holders(policyIsMax = false)(idle("orders", 100), idle("clicks", 200)) === Seq("clicks"))
    assert(holders(policyIsMax = true)(idle("orders", 300), at("clicks", Some(200))) === Seq("orders"))
  }
}
