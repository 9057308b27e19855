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
  import JsonFields._

  def put(json: ObjectNode, answer: QueryAnswer): Unit = {
    putHeadline(json.putObject("headline"), answer.headline)
    putParts(json.putObject("parts"), answer.parts)
    putEach(json, "notes", answer.notes)(putNote)
    json.put("watermarkText", Watermarks.text(answer.query))
    putProgress(json.putObject("progress"), answer.progress)
  }

  private def putHeadline(json: ObjectNode, headline: Headline): Unit = {
    json.put("code", headline.code.name).put("node", headline.node.orNull)
    putDouble(json, "own", headline.own)
    putDouble(json, "whole", headline.whole)
    putDouble(json, "share", headline.share)
    json.put("text", headline.text)
    ()
  }

  private def putProgress(json: ObjectNode, progress: Progress): Unit = {
    val query = progress.query
    Metric.ofQueries.foreach(metric => putLong(json, metric.field, metric.read(query)))
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

  private def putParts(json: ObjectNode, parts: Parts): Unit = {
    putDouble(json, "whole", parts.whole)
    json.put("text", parts.text.orNull)
    putEach(json, "of", parts.of) { (one, part) =>
      putNames(one, "names", part.names)
      one.put("code", part.code)
      putNames(one, "nodes", part.nodes)
      one.put("ms", part.ms).put("share", part.share).put("text", part.text)
      ()
    }
  }

  private def putNote(json: ObjectNode, note: Note): Unit = {
    json.put("code", note.code).put("level", note.level.name).put("node", note.node.orNull)
    val numbers = json.putObject("numbers")
    note.numbers.foreach { case (name, value) => putFigure(numbers, name, value) }
    json.put("text", note.text)
    ()
  }
}
