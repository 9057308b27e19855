package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus

/** How a run goes, in a sentence: red if an error ended it, or its batch takes far too long. Without state; made for each request. */
private[ui] object StatusLine {
  def apply(answer: QueryAnswer): NodeSeq = NodeSeq.fromSeq(answer.progress.text.toSeq.map { text =>
    val isWrong = answer.status.contains(RunStatus.Failed) || answer.progress.isStalled
    <p class={if (isWrong) "latency-note latency-note-wrong" else "latency-note"}>{text}</p>
  })
}
