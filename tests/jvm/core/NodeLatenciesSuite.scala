package io.sparklatency

import io.sparklatency.figures.NodeLatencies
import org.scalatest.funsuite.AnyFunSuite

class NodeLatenciesSuite extends AnyFunSuite {

  test("nodes stand in the order of the plan among those of other plans") {
    def ordered(known: String, plan: String) =
      NodeLatencies.ordered(known.map(_.toString), plan.map(_.toString)).mkString
    assert(ordered("", "abc") === "abc")
    assert(ordered("c", "abc") === "abc")
    assert(ordered("ad", "abcd") === "abcd")
    assert(ordered("abcd", "ad") === "abcd")
    assert(ordered("bxa", "ab") === "axb")
    assert(ordered("az", "xae") === "xaze", "z stays behind a, which may be upstream of it")
    assert(ordered("ad", "bd") === "abd")
  }
}
