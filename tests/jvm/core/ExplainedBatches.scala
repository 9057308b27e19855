package io.sparklatency

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import io.sparklatency.figures.Waits
import org.scalatest.Assertions

/** Batches of one query that tell the parts of their records' age. They were triggered at 10,000, read from 10,200, and took 46 s. */
trait ExplainedBatches extends Assertions {
  import Answered._

  protected val nodes = Seq(Aged.node("source")(100), Aged.node("scored", "source")(200))
  protected val admission =
    Admission(4000, 5000, 9000, 10000, 46000, Some("maxOffsetsPerTrigger"), Some(60000L))

  /** The way to `scored` takes so long, and what else its stage does. */
  protected def times(scored: Double, rest: Double = 0): BatchTimes = {
    val at = Seq(NodeTimes("source", Some(0), 0, 0, "1"), NodeTimes("scored", Some(scored), scored, 0, "1"))
    BatchTimes(
      7,
      10200000,
      Some(0),
      Seq(StageTimes(Nil, 0, scored + rest, 1, at, Seq("source", "scored"), rest))
    )
  }

  /** Two stages with a node each, and 41 s between them. */
  protected val apart: BatchTimes = {
    def at(id: String, ms: Double, end: Double) = Seq(NodeTimes(id, Some(ms), end, 0, "1"))
    times(0).copy(stages =
      Seq(
        StageTimes(Nil, 0, 1000, 1, at("source", 0, 1000), Seq("source"), 1000),
        StageTimes(Seq(0), 42000, 43000, 1, at("scored", 1000, 43000), Seq("scored"), 0)
      )
    )
  }

  protected def batch(parts: AgeParts, work: BatchTimes = times(43000)): Batch = Batch(
    "orders",
    Some("id"),
    Some("run"),
    7,
    10000,
    56000,
    100,
    Map.empty,
    None,
    Nil,
    0,
    nodes,
    times = Some(work),
    admission = Some(admission),
    parts = Some(parts)
  )

  protected def of(batch: Batch, nodes: Seq[NodeLatencies] = nodes): QueryAnswer =
    answer(query(nodes: _*).copy(explained = Some(batch), lastBatch = Some(batch)))

  protected def parts(
      old: Double = 10,
      backlog: Double = 10,
      before: Double = 10,
      trigger: Double = 10,
      start: Double = 10,
      work: Double = 10,
      state: Double = 0,
      commit: Double = 10
  ) = AgeParts("scored", Waits(old, backlog, before, trigger, start), work, state, commit)

  /** Of a query that is triggered as soon as the batch before is over. */
  protected def withoutInterval(batch: Batch): Batch =
    batch.copy(admission = batch.admission.map(_.copy(intervalMs = None)))

  /** The code of the headline, the node that it names, and its text. */
  protected def said(batch: Batch, nodes: Seq[NodeLatencies] = nodes) = {
    val answered = of(batch, nodes)
    val headline = answered.headline
    assert(answered.slowestStep === headline.node)
    (headline.code.name, headline.node, headline.text)
  }
}
