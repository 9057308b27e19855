package io.sparklatency

import io.sparklatency.drawing.GraphLayout
import io.sparklatency.drawing.GraphLayout.Place
import io.sparklatency.figures.NodeLatencies
import org.scalatest.funsuite.AnyFunSuite

/** Where nodes stand in a drawing. */
class GraphLayoutSuite extends AnyFunSuite {
  private def node(id: String, upstream: String*) = NodeLatencies(id, upstream, Map.empty)

  private def crossings(layout: GraphLayout): Int = {
    val steps = layout.edges.flatMap(edge => edge.through.zip(edge.through.drop(1)))
    val pairs = for (((a, b), i) <- steps.zipWithIndex; (c, d) <- steps.drop(i + 1)) yield (a, b, c, d)
    pairs.count { case (a, b, c, d) => a.column == c.column && (a.row - c.row) * (b.row - d.row) < 0 }
  }

  test("a chain is a line") {
    val layout = GraphLayout.of(Seq(node("a"), node("b", "a"), node("c", "b")))
    assert(layout.places === Map("a" -> Place(0, 0), "b" -> Place(1, 0), "c" -> Place(2, 0)))
    assert((layout.columns, layout.rows) === ((3, 1.0)))
  }

  test("the branches of a join stand one above the other, and what they join to between them") {
    val layout = GraphLayout.of(Seq(node("a"), node("b"), node("join", "a", "b")))
    assert(layout.places === Map("a" -> Place(0, -0.5), "b" -> Place(0, 0.5), "join" -> Place(1, 0)))
  }

  test("an edge that passes a column has a bend in it, beside the nodes there") {
    val layout = GraphLayout.of(Seq(node("a"), node("b", "a"), node("c", "a", "b")))
    val long = layout.edges.find(edge => edge.from == "a" && edge.to == "c").get
    assert(long.through.map(_.column) === Seq(0, 1, 2))
    assert(long.through(1).row !== layout.places("b").row)
  }

  test("nodes are put in an order in which edges do not cross that need not") {
    val layout =
      GraphLayout.of(Seq(
        node("a"),
        node("b"),
        node("c"),
        node("of-c", "c"),
        node("of-b", "b"),
        node("of-a", "a")
      ))
    assert(crossings(layout) === 0)
  }

  test("nodes of which some were folded into one may lead back, and every node still has its own place") {
    val layout =
      GraphLayout.of(Seq(node("__other__", "b"), node("b", "__other__"), node("c", "c", "unheard-of")))
    assert(layout.places.values.toSet.size === 3)
    assert(layout.edges.map(edge => edge.from -> edge.to) === Seq("__other__" -> "b"))
  }

  test("no node has no place")(assert(GraphLayout.of(Nil).columns === 0))
}
