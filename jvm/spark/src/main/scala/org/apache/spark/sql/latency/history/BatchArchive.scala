package org.apache.spark.sql.latency.history

import scala.collection.immutable.NumericRange
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.sparklatency.answer.Readable
import io.sparklatency.answer.SkippedBatches
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.NewerFormatException
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerApplicationEnd
import org.apache.spark.scheduler.SparkListenerEnvironmentUpdate
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.latency.SparkListenerLatencyBatch
import org.apache.spark.sql.latency.SparkListenerLatencyNote
import org.apache.spark.sql.latency.tracking.FailureText
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryProgressEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryStartedEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.apache.spark.util.kvstore.KVStore

/**
 * Writes what the events tell into Spark's store of an application. While the application runs, the store is in memory. A
 * History Server may keep it on disk. Batches that a newer sparklatency wrote are skipped. The log says so once for each application, and
 * a note of each run does.
 *
 * A batch costs a merge of each node's figures and two writes: the batch's event, and the run with three summaries for each
 * node and measure. The first batch of a run also costs a look at all runs. Batches beyond the limits are deleted, and runs that have
 * ended, so a driver's memory does not grow with time. A run that goes on is kept: what its next batch adds to must not begin anew.
 *
 * One thread calls it: on a driver that of the listener queue, in a History Server the one that reads the event log.
 *
 * @param kept    how many batches of each run are kept, the newest. All runs that have ended keep ten times as many together, and so
 *                do those that go on, but each of them at least one
 * @param default what the figures of a run cover, where no event tells
 * @param used    whether the application uses us, so that its queries show from their start. A History Server learns it from the
 *                application's settings, or from the first event of ours
 */
private[spark] final class BatchArchive(
    store: KVStore,
    kept: Int,
    default: WindowSettings = WindowSettings(),
    used: Boolean = false
) extends SparkListener with Logging {
  import BatchArchive._

  private var isOurs = used
  private val runs = new RunsOfEvents

  /** What is kept of each stored run, which a store on disk would read all of to count it. The run heard of last comes last. */
  private val keptOf = mutable.LinkedHashMap.empty[String, Kept]

  private val goingOn = mutable.Map.empty[String, String] // the names of those of them whose end was not told
  private var told = 0L // how many batches
  private var window = default
  private val withoutBatch = new RunsWithoutBatch(store)
  private var begun =
    Vector.empty[QueryStartedEvent] // while nothing has told yet that the application uses us
  private val notes = new NotesOfRuns(store, run => keptOf.contains(run) || withoutBatch.contains(run))
  private var hasSkipped = false
  private var hasStopped = false
  private var hasFailed = false

  /** The application's own settings, which a History Server does not share. They come before its first batch. */
  override def onEnvironmentUpdate(update: SparkListenerEnvironmentUpdate): Unit = orLost(learn(update))

  private def learn(update: SparkListenerEnvironmentUpdate): Unit = {
    val settings = update.environmentDetails.getOrElse("Spark Properties", Nil)
    window = LatencyConf.orDefaults(new SparkConf(false).setAll(settings)).figures.window
    isOurs ||= settings.exists { case (key, value) =>
      key == "spark.plugins" && value.contains(Plugin)
    }
  }

  override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = hasStopped = true

  override def onOtherEvent(event: SparkListenerEvent): Unit = orLost(take(event))

  /**
   * In a vendor's Spark a class may be missing. Spark lets its LinkageError pass: then that would end the application, and in a History
   * Server hide it.
   */
  private def orLost(told: => Unit): Unit =
    try told
    catch {
      case missing: LinkageError =>
        if (!hasFailed) logWarning("this Spark does not fit, and an event was not stored", missing)
        hasFailed = true
    }

  private def take(event: SparkListenerEvent): Unit = event match {
    case batch: SparkListenerLatencyBatch =>
      becomeOurs()
      addKnown(batch)
    case found: SparkListenerLatencyNote =>
      becomeOurs()
      notes.add(found)
    case start: QueryStartedEvent =>
      if (isOurs) addStart(start) else begun = (begun :+ start).takeRight(RunsKept)
    case of: QueryProgressEvent => withoutBatch.commit(of.progress)
    case end: QueryTerminatedEvent => addEnd(end.runId.toString, end.exception.filterNot(isOfApplication))
    case _ =>
  }

  /** An event of ours tells that the application uses us: what began before shows, too. */
  private def becomeOurs(): Unit = if (!isOurs) {
    isOurs = true
    begun.foreach(addStart)
    begun = Vector.empty
  }

  private def addKnown(batch: SparkListenerLatencyBatch): Unit =
    try add(batch)
    catch {
      case newer: NewerFormatException =>
        if (!hasSkipped)
          logWarning(s"batches of query '${Readable.name(batch.query)}' are skipped: ${newer.getMessage}")
        hasSkipped = true
        val note = SkippedBatches.note(newer.getMessage)
        Option(batch.runId).foreach(run => notes.add(SparkListenerLatencyNote(run, note)))
    }

  private def add(batch: SparkListenerLatencyBatch): Unit = {
    val key = StoredRun.key(Option(batch.runId), batch.query)
    val before = known(key)
    val number = before.fold(0L)(_.batches)
    // Refuses a batch of a newer version, before anything is written.
    val explained = if (batch.parts == null) before.flatMap(lastExplained) else None
    val shown = runs.add(key, batch.record, window)
    if (before.isEmpty && !withoutBatch.gotBatch(key)) goingOn(key) = batch.query
    val last = keptOf.get(key)
    val from = last.fold(0L)(_.batches.start)
    val numbers = from.max(number + 1 - most) until number + 1
    val stored = new StoredBatch(StoredBatch.key(key, number), batch)
    val earlier = before.fold(Option(Vector.empty[StoredBatch]))(_.kept)
    store.write(stored)
    store.write(
      StoredRun(shown, batch.committedMs, told + 1, explained)
        .keeping(earlier.map(stored +: _.take(numbers.size - 1)), before.fold(new MadeOfBatch)(_.shown))
    )
    told += 1
    (from until numbers.start).foreach(gone => store.delete(classOf[StoredBatch], StoredBatch.key(key, gone)))
    // An end may be told before the first batch.
    def hadFailed = Stored(store, classOf[StoredEnd], key).exists(_.hasFailed)
    heardOf(key, Some(Kept(batch.query, numbers, last.fold(hadFailed)(_.hasFailed))))
    if (before.isEmpty) forgetOldest()
  }

  /** How many batches a run keeps. Of so many that go on each has fewer. */
  private def most: Long = (10L * kept / goingOn.size.max(1)).min(kept).max(1)

  /** Windows give out records once in many batches, so the batch that tells its parts may have been dropped long since. */
  private def lastExplained(run: StoredRun): Option[SparkListenerLatencyBatch] =
    Option(run.explained).orElse(
      Stored(store, classOf[StoredBatch], StoredBatch.key(run.key, run.batches - 1)).map(_.event)
        .filter(_.parts != null)
    )

  private def known(key: String): Option[StoredRun] = Stored(store, classOf[StoredRun], key)

  /** An end is kept as long as its run. */
  private def addEnd(run: String, error: Option[String]): Unit = {
    store.write(new StoredEnd(run, error.nonEmpty, error.map(FailureText.of).orNull))
    goingOn -= run
    heardOf(run, keptOf.get(run).map(_.copy(hasFailed = error.nonEmpty)))
    if (known(run).isEmpty) withoutBatch.end(run)
  }

  private def heardOf(key: String, found: Option[Kept]): Unit = {
    keptOf -= key
    keptOf ++= found.map(key -> _)
  }

  private def addStart(event: QueryStartedEvent): Unit = {
    def withBatches(name: String) = goingOn.collect { case (run, `name`) => run }.toSeq
    withoutBatch.start(event, withBatches).foreach(notes.forget)
  }

  /**
   * An application that stops before its queries may make them end in any error, as a null of Spark's own. That error is not theirs. It
   * may come right before the event.
   */
  private def isOfApplication(error: String): Boolean =
    hasStopped || error.contains("stopped SparkContext") || error.contains("SparkContext was shut down")

  /**
   * Goes by the order of events. By the clock, which may be set back, the run that has just begun could be the oldest. Where an error has
   * ended the last run of a query, somebody has to hear of it: such runs go last.
   */
  private def forgetOldest(): Unit = {
    val newestFirst = keptOf.keys.toList.reverse
    val failed = newestFirst.distinctBy(keptOf(_).query).filter(keptOf(_).hasFailed).toSet
    val (first, others) = newestFirst.filterNot(goingOn.contains).partition(failed)
    val failedFirst = first ++ others
    val batchesTo = failedFirst.scanLeft(0L)((sum, key) => sum + keptOf(key).batches.size).tail
    failedFirst.zip(batchesTo).zipWithIndex
      .collect { case ((key, sum), i) if i >= RunsKept || sum > 10L * kept => key }
      .foreach { key =>
        // Batches that are deleted one by one leave something of their run in a store in memory.
        store.removeAllByIndexValues(classOf[StoredBatch], StoredBatch.Query, Seq(key).asJavaCollection)
        store.delete(classOf[StoredRun], key)
        store.delete(classOf[StoredStart], key)
        Stored.delete(store, classOf[StoredEnd], key)
        runs.forget(key)
        notes.forget(key)
        keptOf -= key
      }
  }
}

/** Holds the limit on runs that is not a setting. */
private[spark] object BatchArchive {
  val RunsKept = 100

  private val Plugin = "io.sparklatency.LatencyPlugin"

  /** Of a run, the name of its query, the numbers of its batches, and whether an error ended it. */
  private final case class Kept(query: String, batches: NumericRange[Long], hasFailed: Boolean)
}
