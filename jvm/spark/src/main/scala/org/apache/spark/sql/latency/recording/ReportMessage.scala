package org.apache.spark.sql.latency.recording

import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice

/**
 * A [[TaskReport]] on its way from an executor to the driver. It holds only types of the JDK, as a [[PublishedMessage]] does. About
 * fifty bytes a node. Without state.
 */
private[latency] object ReportMessage {

  def apply(report: TaskReport): Array[AnyRef] = {
    val (nodes, attempt) = (report.nodes.toArray, report.attempt)
    Array(
      report.run.getOrElse(""),
      Array(attempt.stage.toLong, attempt.taskPartition.toLong, attempt.id),
      Boolean.box(report.hasBatches),
      nodes.map(_.slice.executor).headOption.getOrElse(""),
      nodes.flatMap(node => Array(node.planning, node.partition.toLong, node.slice.openedMicros, node.rows)),
      nodes.map(_.slice).flatMap(slice =>
        Array(slice.endedMs, slice.overMs, slice.watchedMs, slice.waitedMs, slice.readMs)
      )
    )
  }

  def unapply(message: AnyRef): Option[TaskReport] = message match {
    case Array(
          run: String,
          Array(stage: Long, taskPartition: Long, task: Long),
          hasBatches: java.lang.Boolean,
          executor: String,
          places: Array[Long],
          times: Array[Float]
        ) =>
      val shared = executor.intern
      val nodes = places.grouped(4).zip(times.grouped(5)).collect {
        case (Array(planning, partition, opened, rows), Array(ended, over, watched, waited, read)) =>
          val slice = TaskSlice(shared, opened, ended, over, watched, waited, read)
          TaskReport.Node(planning, partition.toInt, slice, rows)
      }
      val attempt = TaskAttempt(stage.toInt, taskPartition.toInt, task)
      Some(TaskReport(Some(run).filter(_.nonEmpty), attempt, hasBatches, nodes.toVector))
    case _ => None
  }
}
