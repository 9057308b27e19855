package org.apache.spark.sql.latency.planning

import java.util.Properties
import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.latency.compat.ContinuousTrigger
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.compat.RealTimeTrigger
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.streaming.Trigger

/**
 * The streaming query that this thread plans or runs, or in whose session it plans. Spark keeps its id in the thread's local properties. So call
 * [[session]], [[id]], [[running]], [[planned]] and [[hasBatches]] only from the planning thread; all else may be called from
 * any thread. Costs one or two look-ups, and outside a query's own thread a look at each active query, for each plan and mark and never
 * for a record.
 */
private[latency] object CurrentQuery {

  /** Spark's own, of the thread's local properties. */
  private val Id = "sql.streaming.queryId"

  /** None when its context has been stopped meanwhile: then nothing of ours is planned, and Spark's own error ends the query. */
  def session: Option[SparkSession] = SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)

  /** That of the thread; see [[running]]. None outside a streaming query. */
  def id(session: SparkSession): Option[String] = Option(session.sparkContext.getLocalProperty(Id))

  /** The id of the streaming query whose job has these properties. */
  def idOf(job: Properties): Option[String] = Option(job.getProperty(Id))

  /**
   * The query in whose session a plan is made: foreachBatch's DataFrame is in the query's own copy of its user's session, in whichever
   * thread it is used. Else that of the thread, as of an action that begins with a table in another session. A thread of a pool has the id
   * of the query in whose thread it was made.
   */
  def running(session: SparkSession): Option[StreamExecution] = {
    val ofThread = id(session).flatMap(id => active(session, UUID.fromString(id)))
    ofThread.filter(runsIn(session)).orElse(runningIn(session)).orElse(ofThread)
  }

  /** That alone in whose session a plan was made. */
  def runningIn(session: SparkSession): Option[StreamExecution] = all(session).find(runsIn(session))

  private def all(session: SparkSession): Iterator[StreamExecution] =
    session.sharedState.activeStreamingQueries.values.iterator.asScala

  private def runsIn(session: SparkSession)(query: StreamExecution): Boolean =
    Option(query.lastExecution).exists(_.sparkSession eq session)

  /**
   * The same where the query may be asked for its plan. It makes its sources when it is first asked, and what a source asks of Spark as it
   * is made is planned in the same thread: there the question would make the sources again, without end. By the time that a batch is planned
   * they are made.
   */
  def planned(session: SparkSession): Option[StreamExecution] =
    running(session).filter(_.lastExecution != null)

  def active(session: SparkSession, query: UUID): Option[StreamExecution] =
    Option(session.sharedState.activeStreamingQueries.get(query))

  /**
   * The query that ran a batch, as long as that run goes on. The next run of it has the same id, and whoever asks that for its plan before
   * it has made one waits for its sources.
   */
  def ran(batch: IncrementalExecution): Option[StreamExecution] =
    active(batch.sparkSession, batch.queryId).filter(_.runId == batch.runId)

  /** As a user knows it: its name, else its id. */
  def nameOf(query: StreamExecution): String = Option(query.name).getOrElse(query.id.toString)

  /** Whether it runs in batches, whose results show when they end. In real-time and continuous mode they show at once. */
  def hasBatches(session: SparkSession): Boolean =
    running(session).forall(query => lastsMs(query.trigger).isEmpty)

  /** How long a batch lasts that is not over as soon as it can be. */
  def lastsMs(trigger: Trigger): Option[Long] = trigger match {
    case realTime: RealTimeTrigger => Some(realTime.batchDurationMs)
    case _: ContinuousTrigger => Some(Long.MaxValue)
    case _ => None
  }
}
