package org.apache.spark.sql.latency.recording

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.TaskId
import io.sparklatency.figures.TaskPlace
import io.sparklatency.recording.LatencySummary

/**
 * A [[PublishedPart]] on its way from an executor to the driver. It holds only types of the JDK: Spark may read it with a
 * class loader that does not know ours.
 *
 * A message is one summary (a few hundred bytes) and a few short values. A recorder sends one at most each time that it is
 * due to publish. Without state: the task's thread or the one of [[RunningTasks]] makes a message, and the driver's RPC
 * thread reads it.
 */
private[latency] object PublishedMessage {

  def apply(part: PublishedPart): Array[AnyRef] = Array(
    part.owner.key.query,
    part.owner.key.node,
    part.owner.measure.name,
    part.owner.queryId.orNull,
    part.owner.runId.orNull,
    Long.box(part.reading.planning),
    Long.box(part.reading.task),
    Int.box(part.reading.number),
    Int.box(part.reading.partition),
    Boolean.box(part.endless),
    part.summary.toBytes,
    part.oldestMs.map(Long.box).orNull,
    part.task.map(task => Array(task.id.subtopology, task.id.partition, if (task.isLast) 1 else 0)).orNull,
    Int.box(part.intake)
  )

  def unapply(message: AnyRef): Option[PublishedPart] = message match {
    case Array(
          query: String,
          node: String,
          measure: String,
          queryId,
          runId,
          planning: java.lang.Long,
          task: java.lang.Long,
          number: Integer,
          partition: Integer,
          endless: java.lang.Boolean,
          summary: Array[Byte],
          oldestMs,
          place,
          intake: Integer
        ) =>
      Measure.all.find(_.name == measure).map { measure =>
        val (id, run) = (Option(queryId).map(_.toString), Option(runId).map(_.toString))
        PublishedPart(
          MarkOwner(NodeKey(query, node), id, run, measure),
          ReadingId(planning, task, number, partition),
          endless,
          LatencySummary.fromBytes(summary),
          Option(oldestMs).map(_.toString.toLong),
          Option(place).collect { case Array(subtopology: Int, ofTask: Int, isLast: Int) =>
            TaskPlace(TaskId(subtopology, ofTask), isLast == 1)
          },
          intake
        )
      }
    case _ => None
  }
}
