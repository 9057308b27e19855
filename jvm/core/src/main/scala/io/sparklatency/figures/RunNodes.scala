package io.sparklatency.figures

import scala.collection.mutable

/**
 * The figures of a run's nodes, in the order of its plan, and of their tasks, where those are shown. What there is no room for goes
 * together. Not thread-safe.
 *
 * @param make makes the figures, and says how many there may be
 */
private final class RunNodes(granularity: Granularity, make: FiguresMaker) {
  import RunFigures.Other

  private val nodes = mutable.LinkedHashMap.empty[String, Map[Measure, LiveFigures]]
  private val tasks = mutable.Map.empty[(String, Option[String]), LiveFigures]
  private val gone = new Distinct

  def byId: collection.Map[String, Map[Measure, LiveFigures]] = nodes
  def contains(id: String): Boolean = nodes.contains(id)
  def taskCount: Int = tasks.size

  /** How many nodes and tasks were too many. */
  def folded: Int = gone.count

  def all: Iterable[LiveFigures] = nodes.values.flatMap(_.values)
  def withTasks: Iterable[LiveFigures] = all ++ tasks.values

  def forgetTasks(): Unit = tasks.clear()

  /** Does what may add nodes, and places the new ones as `plan` has them. */
  def inOrder(plan: Seq[String])(change: => Unit): Unit = {
    val known = nodes.keys.toList
    change
    val ordered = NodeLatencies.ordered(known, plan.filter(nodes.contains))
    val all = (ordered ++ nodes.keys.toSeq.diff(ordered)).map(id => id -> nodes(id))
    nodes.clear()
    nodes ++= all
  }

  def of(node: String, measure: Measure): LiveFigures = {
    val shown = if (nodes.contains(node) || make.hasRoom) node else fold(node)
    val measures = nodes.getOrElse(shown, Map.empty)
    measures.getOrElse(
      measure, {
        val figures = make.node(shown, measure)
        nodes(shown) = measures + (measure -> figures)
        figures
      }
    )
  }

  /**
   * The figures of a node in a task and, where the node is the last in it, of the task as a whole. None where tasks are not shown
   * one by one.
   */
  def ofTask(node: String, measure: Measure, task: Option[TaskPlace]): Seq[LiveFigures] =
    if (granularity != Granularity.Subtask || measure != Measure.E2ELatency) Nil
    else task.toSeq.flatMap { place =>
      ofTask(place.id, Some(node)) +: Option.when(place.isLast)(ofTask(place.id, None)).toSeq
    }

  private def ofTask(task: TaskId, node: Option[String]): LiveFigures = {
    val key =
      if (tasks.contains(task.toString -> node) || make.hasRoomForTask) task.toString -> node
      else fold(s"$task/${node.getOrElse("")}") -> node.map(_ => Other)
    tasks.getOrElseUpdate(key, make.task(key._1, key._2))
  }

  private def fold(id: String): String = {
    gone.add(id)
    Other
  }
}
