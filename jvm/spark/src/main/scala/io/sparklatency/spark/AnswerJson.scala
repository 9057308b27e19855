package io.sparklatency.spark

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.answer.Headline
import io.sparklatency.answer.Note
import io.sparklatency.answer.Parts
import io.sparklatency.answer.Progress
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Watermarks
import io.sparklatency.figures.Metric

/**
 * What is said of a query, as JSON: each sentence as `text`, beside the numbers it is made of. Writes what the answer has and
 * computes no figure. Without state, for any thread.
 */
private[spark] object AnswerJson {
  import LatencyJson.putDouble

  def put(json: ObjectNode, answer: QueryAnswer): Unit = {
    put(json.putObject("headline"), answer.headline)
    put(json.putObject("parts"), answer.parts)
    val notes = json.putArray("notes")
    answer.notes.foreach(note => put(notes.addObject(), note))
    json.put("watermarkText", Watermarks.text(answer.query))
    put(json.putObject("progress"), answer.progress)
  }

  private def put(json: ObjectNode, headline: Headline): Unit = {
    json.put("code", headline.code.name).put("node", headline.node.orNull)
    putDouble(json, "own", headline.own)
    putDouble(json, "whole", headline.whole)
    putDouble(json, "share", headline.share)
    json.put("text", headline.text)
    ()
  }

  private def put(json: ObjectNode, progress: Progress): Unit = {
    val query = progress.query
    Metric.ofQueries.foreach(metric => json.put(metric.field, metric.read(query).map(Long.box).orNull))
    json.put("stalled", progress.isStalled).put("error", progress.error.orNull)
    json.put("text", progress.text.orNull)
    query.activity match {
      case None => json.putNull("activity")
      case Some(activity) =>
        val now = json.putObject("activity")
        now.put("batch", activity.batch).put("doing", activity.doing).put("hasData", activity.hasData)
        now.put("tasksDone", activity.tasks.map(tasks => Int.box(tasks.done)).orNull)
        now.put("tasksRunning", activity.tasks.map(tasks => Int.box(tasks.running)).orNull)
        now.put("tasks", activity.tasks.map(tasks => Int.box(tasks.all)).orNull)
    }
    ()
  }

  private def put(json: ObjectNode, parts: Parts): Unit = {
    putDouble(json, "whole", parts.whole)
    json.put("text", parts.text.orNull)
    val of = json.putArray("of")
    parts.of.foreach { part =>
      val one = of.addObject()
      val names = one.putArray("names")
      part.names.foreach(name => names.add(name))
      one.put("code", part.code)
      val nodes = one.putArray("nodes")
      part.nodes.foreach(node => nodes.add(node))
      one.put("ms", part.ms).put("share", part.share).put("text", part.text)
    }
  }

  private def put(json: ObjectNode, note: Note): Unit = {
    json.put("code", note.code).put("level", note.level.name).put("node", note.node.orNull)
    val numbers = json.putObject("numbers")
    note.numbers.foreach { case (name, value) => LatencyJson.put(numbers, name, value) }
    json.put("text", note.text)
    ()
  }
}
