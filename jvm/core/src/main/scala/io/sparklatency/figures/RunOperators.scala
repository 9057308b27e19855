package io.sparklatency.figures

import scala.collection.mutable

/** Who was at work in a run: in the last batch that tells it, or the last second where no batch ends. Not thread-safe. */
private[figures] final class RunOperators(nodes: RunNodes, make: FiguresMaker) {
  private val latencies = mutable.Map.empty[String, OperatorLatency]
  private var last = Option.empty[BatchTimes]

  def times: Option[BatchTimes] = last

  /** How long the operators before a node were at work in the last ten. */
  def of(node: String): Seq[Double] = latencies.get(node).fold(Seq.empty[Double])(_.all)

  def worked(times: BatchTimes): Unit = {
    last = Some(times)
    for (node <- times.nodes if nodes.contains(node.node); ms <- node.latencyMs)
      latencies.getOrElseUpdate(node.node, make.operator(node.node)).add(ms)
  }

  /** What is known by the last windows of a second. */
  def windows: LastWindows = LastWindows(last, latencies.map { case (node, of) => node -> of.all }.toMap)

  def replay(windows: LastWindows): Unit = {
    last = windows.last
    for ((node, told) <- windows.operators if nodes.contains(node)) {
      val latency = make.operator(node)
      told.foreach(latency.add)
      latencies(node) = latency
    }
  }
}
