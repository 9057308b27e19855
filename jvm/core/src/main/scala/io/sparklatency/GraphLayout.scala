package io.sparklatency

import scala.collection.mutable

/**
 * Where the nodes of a plan stand in a drawing from left to right: each in a column to the right of all upstream of it, and in
 * each column in an order that lets few edges cross. An edge that passes columns has a bend in each, so that it goes between
 * nodes and not behind them.
 *
 * @param places of nodes, by id
 * @param edges  as the places that they lead through, both ends included
 */
final case class GraphLayout(places: Map[String, GraphLayout.Place], edges: Seq[GraphLayout.Edge]) {
  private val all = places.values ++ edges.flatMap(_.through)

  val columns: Int = all.map(_.column + 1).maxOption.getOrElse(0)

  /** How many rows there are; the middle of each column is in the middle of them. */
  val rows: Double = all.map(_.row.abs * 2 + 1).maxOption.getOrElse(0)
}

object GraphLayout {

  /** @param row counted from the middle, which is 0; there are halves where columns have an even number of places */
  final case class Place(column: Int, row: Double)

  final case class Edge(from: String, to: String, through: Seq[Place])

  private val Sweeps = 4

  def of(nodes: Seq[NodeRecord]): GraphLayout = {
    val column = columnsOf(nodes)
    val ways = for {
      node <- nodes
      upstream <- node.upstream.distinct
      from <- column.get(upstream) if from < column(node.id)
    } yield {
      val bends = (from + 1 until column(node.id)).map(_ => Stop(upstream, node.id))
      Way(atNode(upstream) +: bends :+ atNode(node.id), from)
    }
    val stops = nodes.map(node => atNode(node.id) -> column(node.id)) ++ ways.flatMap(_.bends)
    val rows = ordered(stops.groupMap(_._2)(_._1), ways)
    def place(stop: Stop, column: Int) = Place(column, rows(column)(stop))
    GraphLayout(
      nodes.map(node => node.id -> place(atNode(node.id), column(node.id))).toMap,
      ways.map(way => Edge(way.stops.head.from, way.stops.last.to, way.inColumns.map((place _).tupled)))
    )
  }

  /** A node, which leads from and to itself, or the bend of an edge. */
  private final case class Stop(from: String, to: String)

  private def atNode(id: String): Stop = Stop(id, id)

  private final case class Way(stops: Seq[Stop], firstColumn: Int) {
    val inColumns: Seq[(Stop, Int)] = stops.zip(firstColumn until firstColumn + stops.size)
    def bends: Seq[(Stop, Int)] = inColumns.drop(1).dropRight(1)
  }

  /** Upstream comes first in a plan; an edge back to what came before, as folded nodes may have, says nothing. */
  private def columnsOf(nodes: Seq[NodeRecord]): Map[String, Int] = {
    val columns = mutable.Map.empty[String, Int]
    nodes.foreach(node =>
      columns(node.id) = node.upstream.flatMap(columns.get).map(_ + 1).maxOption.getOrElse(0)
    )
    columns.toMap
  }

  /** Sorts each column by the mean row of its neighbours, there and back again: few crossings are left that need not be. */
  private def ordered(columns: Map[Int, Seq[Stop]], ways: Seq[Way]): Map[Int, Map[Stop, Double]] = {
    val steps = ways.flatMap(way => way.inColumns.zip(way.inColumns.drop(1)))
    val before = steps.groupMap { case (_, to) => to } { case (from, _) => from }
    val after = steps.groupMap { case (from, _) => from } { case (_, to) => to }
    val rows = mutable.Map.from(columns.map { case (column, stops) => column -> centred(stops) })
    def arrange(column: Int, neighbours: Map[(Stop, Int), Seq[(Stop, Int)]]): Unit = {
      val wishes = rows(column).map { case (stop, row) =>
        val near = neighbours.getOrElse(stop -> column, Nil).map { case (stop, column) => rows(column)(stop) }
        stop -> (if (near.isEmpty) row else near.sum / near.size)
      }
      val asBefore = rows(column).toSeq.sortBy { case (_, row) => row }.map { case (stop, _) => stop }
      rows(column) = centred(asBefore.sortBy(wishes))
    }
    val leftToRight = columns.keys.toSeq.sorted
    for (_ <- 1 to Sweeps) {
      leftToRight.foreach(arrange(_, before))
      leftToRight.reverse.foreach(arrange(_, after))
    }
    rows.toMap
  }

  private def centred(stops: Seq[Stop]): Map[Stop, Double] = {
    val middle = (stops.size - 1) / 2.0
    stops.zipWithIndex.map { case (stop, i) => stop -> (i - middle) }.toMap
  }
}
