package io.sparklatency

import io.sparklatency.SplitParts.Part
import org.scalatest.funsuite.AnyFunSuite

/** The three parts of a record's way, and what is said where they are not known. */
class SplitPartsSuite extends AnyFunSuite {
  import Aged._

  private def of(nodes: NodeRecord*): SplitParts = SplitParts.of(nodes)

  private def committed(node: NodeRecord)(ms: Long*): NodeRecord =
    node.copy(measures = node.measures + (Measure.Commit -> records(ms: _*)))

  test("queuing, processing and commit make up the age at the commit") {
    val split = of(node("source")(100, 300), committed(node("sink", "source")(500, 700))(1000, 1200))
    assert(split.parts === Seq(
      Part(Seq("source queuing"), 200),
      Part(Seq("processing"), 400),
      Part(Seq("commit"), 500)
    ))
    assert((split.whole, split.notes) === ((1100.0, Nil)))
    assert(split.parts.map(split.share).sum === 1.0)
  }

  test("without a node at the sources, queuing and processing are one part") {
    val split = of(committed(node("sink")(500))(600))
    assert(split.parts === Seq(Part(Seq("source queuing", "processing"), 500), Part(Seq("commit"), 100)))
    assert(split.notes === Seq(
      "Source queuing and processing cannot be told apart: that takes a node where the query reads its sources and another behind it."
    ))
  }

  test("a commit that is not known is said not to be") {
    assert(of(node("source")(1), node("sink", "source")(2)).notes ===
      Seq("Commit is unknown: it was not measured at the last nodes of the query."))
  }

  test(
    "where fewer, and younger, records reach the end than came in, a part is negative, is not drawn, and is explained"
  ) {
    val split = of(node("source")(100, 900), committed(node("sink", "source")(200))(300))
    assert(split.parts.map(_.ms) === Seq(500, -300, 100))
    assert(split.parts.map(split.share) === Seq(500.0 / 600, 0, 100.0 / 600))
    assert(
      split.notes.map(_.takeWhile(_ != ':')) === Seq("More or fewer records reached the end than came in")
    )
  }

  test(
    "before the first batch with records nothing is known, and of one in which none came to the end neither"
  ) {
    assert(of(node("source")(), node("sink", "source")()) ===
      SplitParts(Nil, Seq("No batch with records at a marked node has been committed yet.")))
    assert(of(node("source")(1), node("sink", "source")()) ===
      SplitParts(Nil, Seq("No record with a timestamp reached the end of the query in the last batch.")))
  }
}
