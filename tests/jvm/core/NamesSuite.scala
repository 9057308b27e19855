package io.sparklatency

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8

import io.sparklatency.figures.DropwizardName
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Metric
import io.sparklatency.figures.NodeKey
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class NamesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val id: Gen[String] =
    Gen.oneOf(
      Gen.stringOf(Gen.oneOf("ab.%_- ,=:*?\"\n\u00e9\u6d41".toSeq)),
      Gen.alphaNumStr,
      Gen.asciiPrintableStr
    )
  private val max = Metric.all.find(_.field == "max").get

  test("ordinary ids stay readable") {
    assert(DropwizardName(
      NodeKey("orders", "source-0"),
      max
    ) === "query.orders.node.source-0.record-e2e-latency-max")
    assert(DropwizardName(
      NodeKey("orders.v2", "a b"),
      max
    ) === "query.orders%2Ev2.node.a%20b.record-e2e-latency-max")
  }

  test("an escaped id can be read back") {
    forAll(id)(name => assert(URLDecoder.decode(DropwizardName.escape(name), UTF_8) === name))
  }

  test("two keys never share a name, and none is a prefix of another") {
    forAll(id, id, id, id) { (query, node, otherQuery, otherNode) =>
      val (one, other) = (NodeKey(query, node), NodeKey(otherQuery, otherNode))
      whenever(one != other) {
        assert(!DropwizardName(one, max).startsWith(DropwizardName(other, max)))
      }
    }
  }

  test("what a query's metrics begin with is no prefix of another query's") {
    def prefix(query: String) = s"query.${DropwizardName.escape(query)}."
    assert(!prefix("clicks_enriched").startsWith(prefix("clicks")))
    forAll(id, id) { (query, more) =>
      whenever(more.nonEmpty)(assert(!prefix(query + more).startsWith(prefix(query))))
    }
  }

  test("every metric has a name of its own, and in its measure a field of its own") {
    assert(Metric.all.map(_.name).distinct.size === Metric.all.size)
    for (measure <- Measure.all)
      assert(Metric.of(
        measure
      ).nonEmpty && Metric.of(measure).map(_.field).distinct.size === Metric.of(measure).size)
  }
}
