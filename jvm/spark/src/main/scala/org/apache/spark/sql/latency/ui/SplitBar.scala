package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.NodeRecord
import io.sparklatency.Readable
import io.sparklatency.SplitParts

/** The age of records at the commit, in each node's last batch, as one bar: source queuing, processing, commit. */
private[ui] object SplitBar {

  def apply(nodes: Seq[NodeRecord]): NodeSeq = {
    val split = SplitParts.of(nodes)
    bar(split) ++ split.notes.map(note => <div class="text-body-secondary small">{note}</div>)
  }

  private def bar(split: SplitParts): NodeSeq =
    if (split.parts.isEmpty) NodeSeq.Empty
    else
      <div class="latency-split" role="img" aria-label={split.parts.map(told).mkString(", ")}>
        {
        split.parts.map(part =>
          <div class={colour(part)} title={told(part)} style={s"flex: ${split.share(part)} 1 0"}></div>
        )
      }
      </div> ++
        <p class="mb-0">
        {
          split.parts.map(part =>
            <span class="me-3"><span class={s"latency-key ${colour(part)}"}></span>{told(part)}</span>
          )
        }
        <span class="text-body-secondary">of {
          Readable.duration(split.whole)
        } on average in the last batch of each node</span>
      </p>

  /** Of parts that cannot be told apart, that of the last. */
  private def colour(part: SplitParts.Part): String = s"latency-part-${order.indexOf(part.names.last)}"

  private val order = Seq(SplitParts.Queuing, SplitParts.Processing, SplitParts.Commit)

  private def told(part: SplitParts.Part): String =
    s"${part.names.mkString(" and ")} ${Readable.duration(part.ms)}"
}
