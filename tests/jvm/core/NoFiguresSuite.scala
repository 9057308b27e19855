package io.sparklatency

import io.sparklatency.answer.NoFigures
import org.scalatest.funsuite.AnyFunSuite

/** What is said where there is nothing to show. */
class NoFiguresSuite extends AnyFunSuite {

  test("without any figures it is said what they wait for") {
    assert(
      NoFigures.yet === "No figures yet: no batch of a query with a marked node has ended."
    )
  }

  test("of a query that is not found it is said why, and which there are") {
    val why =
      "no figures of a query 'q': there is no query of this name or id, none of its batches with a marked node has ended yet, or newer runs have taken its place"
    assert(NoFigures.of("q", Nil) === why)
    assert(NoFigures.of("q", Seq("a", "b")) === s"$why; there are figures of 'a', 'b'")
  }

  test("what is said is short, however long the name is and however many queries there are") {
    val known = (1 to 1000).map(i => s"query_$i" * 1000)
    assert(NoFigures.of("q" * 1000000, known).length < 800)
    assert(NoFigures.of(
      "orders",
      "sink" +: (1 to 30).map(_.toString) :+ "order"
    ).contains("figures of 'order', "))
  }
}
