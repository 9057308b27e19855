package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus

/** How a run goes, in a sentence: red if an error ended it, or its batch takes far too long. Without state; made for each request. */
private[ui] object StatusLine {
  def apply(answer: QueryAnswer): NodeSeq = NodeSeq.fromSeq(answer.progress.text.toSeq.map(text =>
    <p class={if (isWrong(answer)) "latency-note latency-note-wrong" else "latency-note"}>{text}</p>
  ))

  /** For a cell of a table: a word, and the first line of an error, or that the batch in progress takes far too long. */
  def short(word: String, answer: QueryAnswer): NodeSeq = {
    val wrong = answer.progress.failed.orElse(answer.progress.stalled)
    <span class={if (isWrong(answer)) "latency-note-wrong" else ""}>{word}</span> ++
      wrong.toSeq.map(text => <div class="small latency-note-wrong">{text}</div>)
  }

  private def isWrong(answer: QueryAnswer) =
    answer.status.contains(RunStatus.Failed) || answer.progress.isStalled
}
