package org.apache.spark.sql.latency.tracking

import org.scalatest.funsuite.AnyFunSuite

/** What is kept of many runs of an application that runs for months. */
class RunTextsSuite extends AnyFunSuite {
  test("what was found in a run is kept while it is active, and of the last hundred others") {
    var active = Set("first", "1")
    val texts = new RunTexts(() => active)
    texts.add("first", "b")
    texts.add("first", "a")
    texts.add("second", "c")
    for (run <- 1 to 150) texts.add(run.toString, "d")
    assert(texts.of("first") === Seq("a", "b"))
    assert(texts.of("second") === Nil)
    assert((1 to 150).filter(run => texts.of(run.toString).nonEmpty) === 1 +: (51 to 150))

    active = Set.empty
    texts.add("last", "e")
    assert(texts.of("first") === Nil)
    assert((1 to 150).filter(run => texts.of(run.toString).nonEmpty) === (52 to 150))
  }
}
