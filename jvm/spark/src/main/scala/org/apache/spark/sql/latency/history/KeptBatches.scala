package org.apache.spark.sql.latency.history

import java.time.ZoneId

import io.sparklatency.drawing.LatencyChart
import io.sparklatency.drawing.PhasesChart
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import io.sparklatency.recording.LatencySummary
import org.apache.spark.sql.latency.SparkListenerLatencyBatch

/**
 * Batches of a run, as pages show them. They are decoded when they are asked for, and of each no more than is shown. What a table shows of
 * a batch stays with it, and what a chart shows of all with their run. For any thread.
 *
 * @param made what pages have made of these batches, or of those of a moment before or after
 */
private[latency] final class KeptBatches(
    newestFirst: Vector[StoredBatch],
    made: MadeOfBatch = new MadeOfBatch
) {
  import KeptBatches._

  /** The newest, by which a page knows whether a batch has come since: a store in memory gives the same one again. */
  def newest: Option[AnyRef] = newestFirst.headOption.map(_.event)

  /** The last of them, the newest first, each with the nodes that records left last, as a table shows them. */
  def lines(limit: Int, of: MadeOfBatch.Of[String])(line: Batch => String): Seq[String] =
    newestFirst.take(limit).map(batch => batch.shown(of)(line(batch.event.atEnd.record)))

  /** How the latency of some nodes together went, oldest first; of batches that reached one. */
  def latencies(nodes: Set[String]): Seq[LatencySummary] =
    newestFirst.map(_.event.nodes.filter(node => nodes(node.id))).filter(_.nonEmpty)
      .map(reached => LatencySummary.merge(reached.map(_(Measure.E2ELatency)))).reverse

  /** A chart of the same for each node that has measured anything. */
  def charts(nodes: Seq[String], zone: ZoneId): Seq[(String, LatencyChart)] = {
    val shared =
      newestFirst.headOption.toSeq.flatMap(newest => LatencyChart.sharing(newestFirst.size, newest.number))
    nodes.map(node => node -> known(Charted(node, zone), shared)(drawn(_, node, zone))).collect {
      case (node, points) if points.exists(_.isMeasured) => node -> new LatencyChart(points, zone)
    }
  }

  private def drawn(sharing: Range, node: String, zone: ZoneId): Option[LatencyChart.Drawn] = {
    val of = for (batch <- sharing.map(newestFirst); of <- batch.event.nodes.find(_.id == node))
      yield batch.event.committedMs -> of(Measure.E2ELatency)
    of.headOption.map { case (newestMs, _) =>
      LatencyChart.Drawn(LatencyChart.Point(newestMs, LatencySummary.merge(of.map(_._2))), zone)
    }
  }

  /** What the last of them spent their time on, oldest first. Nothing is decoded. */
  def phases(limit: Int, zone: ZoneId): Seq[PhasesChart.Drawn] =
    known(Phased(zone), newestFirst.indices.take(limit).map(i => i to i))(only =>
      bar(newestFirst(only.head).event, zone)
    )

  /**
   * What a chart shows, oldest first. A batch that comes or goes changes only the last place or the first, and the others are not looked
   * at.
   *
   * @param shared the batches that share a place, the newest first
   */
  private def known[A](of: MadeOfBatch.Of[List[Shown[A]]], shared: Seq[Range])(
      make: Range => Option[A]
  ): Seq[A] = newestFirst.headOption.fold(List.empty[A]) { newest =>
    var before = made.get(of).getOrElse(Nil)
    val (last, all) = (newest.number, List.newBuilder[Shown[A]])
    shared.foreach { sharing =>
      val number = last - sharing.head
      before = before.dropWhile(_.number > number)
      all += before.headOption.filter(one => one.number == number && one.batches == sharing.size)
        .getOrElse(new Shown(number, sharing.size, make(sharing)))
    }
    made.keep(of, all.result()).foldLeft(List.empty[A])((later, one) => one.made.fold(later)(_ :: later))
  }

  private def bar(batch: SparkListenerLatencyBatch, zone: ZoneId): Option[PhasesChart.Drawn] =
    PhasesChart.bar(batch.batch, batch.startMs, batch.durations, batch.inputRows)
      .map(PhasesChart.Drawn(_, zone))
}

private object KeptBatches {

  /** @param number of the newest of the batches that it is made of */
  private final class Shown[A](val number: Long, val batches: Int, val made: Option[A])

  private final case class Charted(node: String, zone: ZoneId)
      extends MadeOfBatch.Of[List[Shown[LatencyChart.Drawn]]]
  private final case class Phased(zone: ZoneId) extends MadeOfBatch.Of[List[Shown[PhasesChart.Drawn]]]
}
