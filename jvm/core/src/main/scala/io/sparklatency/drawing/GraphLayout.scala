package io.sparklatency.drawing

import scala.collection.mutable

import io.sparklatency.figures.NodeLatencies

/**
 * Where nodes stand in a drawing from left to right. A node's column is to the right of all nodes upstream of it. Within a
 * column the order keeps crossings few. An edge over several columns has a bend in each, so it runs between nodes and not
 * behind them.
 *
 * @param places of nodes, by id
 * @param edges  each with the places on its way, both ends included
 */
final case class GraphLayout(places: Map[String, GraphLayout.Place], edges: Seq[GraphLayout.Edge]) {
  private val all = places.values ++ edges.flatMap(_.through)

  val columns: Int = all.map(_.column + 1).maxOption.getOrElse(0)

  /** How many rows there are. Each column is centred in them. */
  val rows: Double = all.map(_.row.abs * 2 + 1).maxOption.getOrElse(0)
}

object GraphLayout {

  /** @param row counted from the middle, which is 0. In a column with an even number of places rows are halves */
  final case class Place(column: Int, row: Double)

  final case class Edge(from: String, to: String, through: Seq[Place])

  private val Sweeps = 4

  /** How many columns the nodes take. */
  def columns(nodes: Seq[NodeLatencies]): Int = columnsOf(nodes).values.maxOption.fold(0)(_ + 1)

  def of(nodes: Seq[NodeLatencies]): GraphLayout = {
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

  /** A bend of an edge, or a node: a node leads from itself to itself. */
  private final case class Stop(from: String, to: String)

  private def atNode(id: String): Stop = Stop(id, id)

  private final case class Way(stops: Seq[Stop], firstColumn: Int) {
    val inColumns: Seq[(Stop, Int)] = stops.zip(firstColumn until firstColumn + stops.size)
    def bends: Seq[(Stop, Int)] = inColumns.drop(1).dropRight(1)
  }

  /** Upstream comes first in a plan. An edge back to an earlier node, as folded nodes may have, is ignored. */
  private def columnsOf(nodes: Seq[NodeLatencies]): Map[String, Int] = {
    val columns = mutable.Map.empty[String, Int]
    nodes.foreach(node =>
      columns(node.id) = node.upstream.flatMap(columns.get).map(_ + 1).maxOption.getOrElse(0)
    )
    columns.toMap
  }

  /** Sorts each column by its neighbours' mean row, from left to right and back. Few needless crossings are left. */
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
    // A place of its own has nothing to change places with.
    val leftToRight = columns.collect { case (column, stops) if stops.size > 1 => column }.toSeq.sorted
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
