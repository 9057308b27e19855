package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.answer.Work
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.StageTimes
import io.sparklatency.path.OperatorPath.Step

/**
 * Who was at work for the last batch that had records: a sentence, the steps of its critical path, and its nodes with the partition
 * in which each ended last. Nothing where no batch tells it. Shows what it is given and reads no figures. Without state; made by a
 * thread of the web server.
 */
private[ui] object OperatorsTable {

  def apply(query: QuerySnapshot, work: Option[Work], link: String => String): NodeSeq =
    of("Operators", "", query, work, link)

  /** The same of the batch in progress. */
  def soFar(query: QuerySnapshot, work: Option[Work], link: String => String): NodeSeq =
    of("Operators of the batch in progress", "-so-far", query, work, link)

  private def of(
      heading: String,
      id: String,
      query: QuerySnapshot,
      work: Option[Work],
      link: String => String
  ): NodeSeq =
    work.fold(NodeSeq.Empty) { work =>
      <h4>{heading}</h4> ++ <p>{work.text}</p> ++
        SortableTable(s"latency-steps$id", steps(work))(work.path.steps.zipWithIndex) ++
        SortableTable(s"latency-operators$id", nodes(work, query, link))(
          for ((stage, place) <- work.times.stages.zipWithIndex; node <- stage.nodes)
            yield Row(place, stage, node)
        )
    }

  private val ofStep = new Columns[(Step, Int)]

  private def steps(work: Work): Seq[Column[(Step, Int)]] = Seq(
    ofStep.count("Step", "the steps of the critical path, one after another") {
      case (_, place) =>
        Some(place + 1L)
    },
    ofStep.plain("At work", "what took the time")(at => work.text(at._1)),
    ofStep.mean("Time", "how long it took")(at => Some(at._1.ms)),
    ofStep.share("Share", "its part of the time from the first read to the last write")(at =>
      Some(work.path.share(at._1))
    )
  )

  private val ofNode = new Columns[Row]

  private def nodes(work: Work, query: QuerySnapshot, link: String => String): Seq[Column[Row]] = {
    val averages = query.nodes.map(node => node.id -> node.operatorLatencyAvg).toMap
    Seq(
      ofNode.node("id of the node; a click shows its history and partitions")(_.node.node)(link),
      ofNode.mean(
        "Operator latency",
        "how long the operators between it and the node before were at work"
      )(
        _.node.latencyMs
      ),
      ofNode.mean("Mean of ten", "the same over the last ten batches that tell it")(row =>
        averages.get(row.node.node).flatten
      ),
      ofNode.share("Share", "its part of the time from the first read to the last write")(row =>
        work.path.share(row.node.node)
      ),
      ofNode.mean("Without it", "how long the batch would take if it cost nothing")(row =>
        Some(work.path.without(row.node.node))
      ),
      ofNode.mean("Ended", "when the last row had passed it, after the first read of the batch")(row =>
        Option.when(work.times.of != BatchTimes.Window)(row.node.ewtMs)
      ),
      ofNode.count("Stage", "among the stages with nodes, as they ended")(row => Some(row.place + 1L)),
      ofNode.count("Tasks", "of the stage")(row => Some(row.stage.tasks.toLong)),
      ofNode.count("Partition", "the one in which it ended last")(row =>
        Some(row.node.partition.toLong)
      ),
      ofNode.mean(
        "Skew",
        "how many times the median partition the slowest took; a click on the node shows them"
      )(
        _.node.partitions.skew
      ),
      ofNode.plain("Executor", "that ran this partition")(_.node.executor)
    )
  }

  private final case class Row(place: Int, stage: StageTimes, node: NodeTimes)
}
