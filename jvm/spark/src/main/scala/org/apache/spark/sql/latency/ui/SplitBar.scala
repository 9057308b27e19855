package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.BatchRecord
import io.sparklatency.Readable
import io.sparklatency.SplitParts

/** The age of the last batch's records at its commit as one bar: source queuing, processing, commit. */
private[ui] object SplitBar {

  def apply(batch: Option[BatchRecord]): NodeSeq = {
    val split = SplitParts.of(batch)
    bar(split) ++ split.notes.map(note => <div class="text-body-secondary small">{note}</div>)
  }

  private def bar(split: SplitParts): NodeSeq =
    if (split.parts.isEmpty) NodeSeq.Empty
    else
      <div>Last batch: {Readable.duration(split.whole)} on average</div> ++
      <div class="latency-split" role="img" aria-label={split.parts.map(told).mkString(", ")}>
        {split.parts.map { part =>
          <div class={s"latency-part-${order.indexOf(part.names.last)}"} title={told(part)} style={s"flex: ${split.share(part)} 1 0"}>
            {told(part)}
          </div>
        }}
      </div>

  private val order = Seq(SplitParts.Queuing, SplitParts.Processing, SplitParts.Commit)

  private def told(part: SplitParts.Part): String = s"${part.names.mkString(" and ")} ${Readable.duration(part.ms)}"
}
