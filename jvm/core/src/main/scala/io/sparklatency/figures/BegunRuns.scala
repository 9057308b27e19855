package io.sparklatency.figures

import scala.collection.mutable

/**
 * The runs of which nothing is planned yet. That of a query without nodes stays here. Under the lock of [[LiveRuns]].
 *
 * One shows by each name, until a run of that name has nodes. Of two that go on in two sessions it is the first.
 *
 * @param isFree whether no run with nodes shows by a name
 * @param read   what is known of a run, by its id
 */
private final class BegunRuns(
    shown: FiguresListener,
    isFree: String => Boolean,
    read: String => Option[QuerySnapshot]
) {
  private val runs = mutable.Map.empty[String, BegunRun]

  /** Of one query no two go on at once: those before it have ended, though nobody may have told that. */
  def add(id: String, name: String, queryId: String): Unit = {
    runs.collect { case (before, run) if run.queryId == queryId => before }.toList.foreach(forget)
    runs(id) = new BegunRun(name, queryId)
    show(name)
  }

  def forget(id: String): Unit = runs.get(id).foreach { run =>
    if (run.shows) hide(run.name)
    runs -= id
    show(run.name)
  }

  def clear(): Unit = runs.clear()

  def show(name: String): Unit =
    if (!runs.values.exists(_.isShown(name)) && isFree(name))
      runs.find { case (_, run) => run.name == name }.foreach { case (id, run) =>
        run.shows = true
        shown.addedQuery(name, () => read(id))
        shown.addedAges(name, () => read(id))
      }

  def hide(name: String): Unit = runs.values.filter(_.isShown(name)).foreach { run =>
    run.shows = false
    shown.removed(name)
  }

  /** How the tasks of a run get on. */
  def tasks(id: String): Option[TaskProgress] = runs.get(id).map(_.tasks)

  /** The same of all runs of a query. */
  def tasksOf(queryId: String): Iterable[TaskProgress] = runs.values.filter(_.queryId == queryId).map(_.tasks)

  def allTasks: Iterable[TaskProgress] = runs.values.map(_.tasks)
}

private final class BegunRun(val name: String, val queryId: String) {
  val tasks = new TaskProgress
  var shows = false
  def isShown(name: String): Boolean = shows && this.name == name
}
