package org.apache.spark.sql.latency.history

import scala.jdk.CollectionConverters._

import io.sparklatency.answer.EarlierRun
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Batch
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.time.WallClock
import org.apache.spark.status.KVUtils
import org.apache.spark.util.kvstore.KVStore

/**
 * What every surface shows, of a running application and of one that the History Server has read. All of it can be made from
 * events. Of a run that goes on, the running figures stand in their place, because they know more: tasks that have not ended,
 * and the silence since the last batch.
 *
 * Reads the store at each call, and keeps nothing but what `made` does. A call costs a snapshot of the running figures, under their lock,
 * and a read of the stored runs, at most a hundred. [[history]] and [[kept]] read the run, and of a store on disk each batch that they give.
 *
 * Thread-safe: the threads of the UI, of REST and of the application itself call it.
 *
 * @param live      the running figures of this process, if it is the application's driver
 * @param executors their clocks, which only a driver knows
 * @param activity  what a run does now, of which no batch has told yet
 * @param made      what was read and said before, where readings follow one another
 * @param dropped   how many events this driver's figures were to be made of, and Spark has dropped
 */
final class LatencyStore private[spark] (
    store: KVStore,
    live: Option[LiveRuns],
    executors: () => Seq[ExecutorClock] = () => Nil,
    activity: String => Option[Activity] = _ => None,
    made: KeptAnswers = new KeptAnswers,
    dropped: () => Long = () => 0
) {
  import LatencyStore._

  def isEmpty: Boolean =
    running.isEmpty && store.count(classOf[StoredRun]) == 0 && store.count(classOf[StoredStart]) == 0

  /**
   * All queries: the newest run of each, by its name. Every surface shows these. First come those that the application itself
   * still knows, in the order in which it first saw them. Then come those that are only stored, the newest first.
   */
  def queries: Seq[QuerySnapshot] = all.queries

  /** The same, and the other runs of these queries, of one moment. */
  def all: Runs = {
    val known = running
    val stored = storedBeside(known)
    val starts = begunBeside(known, stored)
    val begun = starts.map(sinceStart)
    // A run that has begun takes the place of an earlier one of its query, which has ended.
    val (replaced, shownAsLive) =
      known.partition(query => hasGivenWay(query.name, query.runId, starts) && !isRunning(query))
    val newest = newestBeside(shownAsLive, starts, stored)
    val shown = newest.map(_.key).toSet
    // Of one that has committed nothing no event tells either, and its end is forgotten with its start.
    val earlier = replaced.flatMap(query => query.lastBatch.map(query -> _)).map { case (query, last) =>
      val status = query.runId.flatMap(this.status)
      EarlierRun(query.name, query.id, query.runId, status, query.batches, last.committedMs)
    } ++ stored.filterNot(run => shown(run.key)).map { run =>
      val (id, runId) = (Option(run.queryId), Option(run.runId))
      EarlierRun(run.name, id, runId, runId.flatMap(status), run.batches, run.committedMs)
    }
    Runs(shownAsLive ++ begun ++ newest.map(snapshot), earlier)
  }

  private def isRunning(query: QuerySnapshot): Boolean =
    query.runId.exists(run => live.exists(_.isRunning(run)))

  /**
   * Runs of which no batch with figures was told yet: they are listed from their start. Of those of one name the newest, and others
   * that go on in another session or have ended since.
   */
  private def begunBeside(known: Seq[QuerySnapshot], stored: Seq[StoredRun]): Seq[StoredStart] = {
    val told = known.map(_.key).toSet ++ stored.map(_.key)
    val newestFirst = KVUtils.viewToSeq(store.view(classOf[StoredStart]))
      .filterNot(start => told(start.run)).sortBy(-_.told)
    val newest = newestFirst.distinctBy(_.name).map(start => start.name -> start).toMap
    newestFirst.filter(start =>
      !hasEnded(start.run) || newest(start.name) == start ||
        !newest(start.name).follows(start.run, Some(start.told))
    ).reverse
  }

  private def sinceStart(start: StoredStart): QuerySnapshot = {
    val begun = live.foldLeft(start.snapshot)((run, live) => live.withTasks(run))
    if (hasEnded(start.run)) begun
    else activity(start.run).fold(begun)(now => begun.doing(Some(now), WallClock.millis()))
  }

  /** Whether a run of this name has begun that follows it, and no batch of that was told yet. */
  private def hasGivenWay(name: String, run: Option[String], begun: Seq[StoredStart]): Boolean = {
    val same = begun.filter(_.name == name)
    same.nonEmpty && {
      val told = run.flatMap(toldOf)
      same.exists(start => run.forall(start.follows(_, told)))
    }
  }

  /** The place of a run's start among all; none where no event told of it. */
  private def toldOf(run: String): Option[Long] = Stored(store, classOf[StoredStart], run).map(_.told)

  /** What events tell of a run until its first batch with figures; none of a run whose beginning none has told. */
  def begun(run: String): Option[QuerySnapshot] = Stored(store, classOf[StoredStart], run).map(_.snapshot)

  /** All that is to be said of a run. */
  def answer(query: QuerySnapshot): QueryAnswer = {
    val status = query.runId.flatMap(this.status)
    val error = query.runId.flatMap(end).flatMap(end => Option(end.error))
    val shown = if (status.forall(_ == RunStatus.Running)) clocks else Nil
    val lost = if (status.contains(RunStatus.Running)) dropped() else 0L
    val notes = query.runId.flatMap(Stored(store, classOf[StoredNotes], _)).toSeq.flatMap(_.notes)
    made.answers(query.key, query, status, shown, error, notes, lost) {
      new QueryAnswer(query, status, shown, error, notes, lost)
    }
  }

  /** None in a History Server: there time does not go on. */
  def nowMs: Option[Long] = live.map(_ => WallClock.millis())

  /** The clocks of the executors that are there now. */
  def clocks: Seq[ExecutorClock] = executors()

  def queryNames: Seq[String] = {
    val known = running
    val stored = storedBeside(known)
    (known.map(_.name) ++ begunBeside(known, stored).map(_.name) ++ stored.map(_.name)).distinct
  }

  /** Finds a run by its own id. A query's name or id finds the query's newest run. Takes no snapshot of any other. */
  def query(key: String): Option[QuerySnapshot] = {
    val known =
      live.toSeq.flatMap(_.snapshot(run => run.name == key || (run.id ++ run.runId).exists(_ == key)))
    lazy val stored = storedBeside(known)
    lazy val begun = begunBeside(known, stored).map(sinceStart)
    def isOf(query: QuerySnapshot) = query.name == key || query.id.contains(key)
    known.find(_.runId.contains(key)).orElse(begun.find(_.runId.contains(key)))
      .orElse(stored.find(_.runId == key).map(snapshot))
      .orElse(known.findLast(query => isOf(query) && isRunning(query)))
      .orElse(begun.findLast(isOf).filterNot(begun => hasNewer(stored, begun, key)))
      .orElse(known.findLast(isOf))
      .orElse(stored.find(run => run.name == key || run.queryId == key).map(snapshot))
  }

  /** Whether a stored run of this name began later, in another session, than one that has no batch yet. */
  private def hasNewer(stored: Seq[StoredRun], begun: QuerySnapshot, name: String): Boolean = {
    val told = begun.runId.flatMap(toldOf)
    stored.filter(_.name == name).flatMap(run => Option(run.runId)).flatMap(toldOf).exists(later =>
      told.exists(_ < later)
    )
  }

  /**
   * How the run of a streaming query goes, or how it ended. None where no event tells: for batch queries, and for a run whose
   * driver was killed or whose event log goes on.
   */
  private def status(run: String): Option[RunStatus] =
    if (live.exists(_.isRunning(run))) Some(RunStatus.Running)
    else end(run).map(end => if (end.hasFailed) RunStatus.Failed else RunStatus.Finished)
      .orElse(Option.when(activity(run).nonEmpty)(RunStatus.Running))

  private def end(run: String): Option[StoredEnd] = Stored(store, classOf[StoredEnd], run)
  private def hasEnded(run: String): Boolean = end(run).nonEmpty

  /** The last batches of a run, oldest first. */
  def history(query: QuerySnapshot, limit: Int = Int.MaxValue): Seq[Batch] =
    newest(query.key)(_.take(limit).map(_.event.record).toList).reverse

  /** The batches of a run that are kept, as its page shows them. */
  def kept(query: QuerySnapshot): KeptBatches = {
    val run = storedRun(query.key)
    val batches = run.flatMap(_.kept).getOrElse(newestByKey(query.key)(_.toVector))
    new KeptBatches(batches, run.fold(new MadeOfBatch)(_.shown))
  }

  /** The last of them. */
  def kept(query: QuerySnapshot, limit: Int): KeptBatches =
    new KeptBatches(newest(query.key)(_.take(limit).toVector))

  private def running: Seq[QuerySnapshot] = live.toSeq.flatMap(_.snapshot())

  private def newestBeside(
      known: Seq[QuerySnapshot],
      begun: Seq[StoredStart],
      stored: Seq[StoredRun]
  ): Seq[StoredRun] = {
    val names = known.map(_.name).toSet
    stored.filterNot(query =>
      names(query.name) || hasGivenWay(query.name, Option(query.runId), begun)
    ).distinctBy(_.name)
  }

  /** First the run that was told of last. */
  private def storedBeside(known: Seq[QuerySnapshot]): Seq[StoredRun] = {
    val keys = known.map(_.key).toSet
    KVUtils.viewToSeq(
      store.view(classOf[StoredRun])
    ).filterNot(query => keys(query.key)).sortBy(-_.told)
  }

  /** Hands over a run's batches, newest first. `use` pays only for what it takes. */
  private def newest[A](key: String)(use: Iterator[StoredBatch] => A): A =
    storedRun(key).flatMap(_.kept).fold(newestByKey(key)(use))(batches => use(batches.iterator))

  private def storedRun(key: String): Option[StoredRun] = Stored(store, classOf[StoredRun], key)

  /** Reads each when it is asked for. A store on disk does not know whose a batch is: those of a run lie between two keys. */
  private def newestByKey[A](key: String)(use: Iterator[StoredBatch] => A): A = {
    val batches = store.view(classOf[StoredBatch]).parent(key).reverse()
      .first(StoredBatch.key(key, Long.MaxValue)).last(StoredBatch.key(key, 0)).closeableIterator()
    try use(batches.asScala)
    finally batches.close()
  }

  /** Where time goes on, what the last batch measured leaves the window of a run that is only stored, too. */
  private def snapshot(run: StoredRun): QuerySnapshot = {
    val stored = decoded(run)
    // Where no batch ends, the last figures of a run that has ended stand.
    val isOver = !stored.endless && nowMs.exists(_ - run.committedMs >= stored.covers.ms)
    if (isOver) stored.afterWindow else stored
  }

  /** Each batch writes its run anew, and is told later than all others. The run itself, kept here, would keep its batches. */
  private def decoded(run: StoredRun): QuerySnapshot = made.snapshots(run.key, run.told) {
    val last = run.kept.fold(newestByKey(run.key)(_.nextOption()))(_.headOption).map(_.event)
    val explained = last.filter(_.parts != null).orElse(Option(run.explained))
    val lastBatch = last.map(_.record)
    val ofParts = if (explained == last) lastBatch else explained.map(_.record)
    run.snapshot.copy(lastBatch = lastBatch, explained = ofParts)
  }
}

object LatencyStore {

  /** @param earlier the newest first */
  final case class Runs(queries: Seq[QuerySnapshot], earlier: Seq[EarlierRun])

  /** The key under which a run that still goes on is stored too. */
  private implicit final class KeyOf(query: QuerySnapshot) {
    def key: String = StoredRun.key(query.runId, query.name)
  }
}
