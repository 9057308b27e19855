package io.sparklatency.figures

import java.nio.file.Files
import java.nio.file.Path

import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset

/**
 * What one marker of each source subtask costs the driver: the time to make figures of a batch that carries them, and as a part of
 * what two cores do in a second, which is how often an interval of a second has it. Half of the nodes are behind a shuffle. The rows
 * without markers are of the same batch and look at the same: their difference is the noise. Writes a table.
 */
object MarkerLoad {
  private val Now = 1790000000000L
  private val (warmUps, rounds) = (200, 100)
  private val cores = 2

  def main(args: Array[String]): Unit = {
    val head = Seq(
      "| nodes | partitions | granularity | a batch with markers, µs | without | without again | of two cores, % |",
      "|---:|---:|---|---:|---:|---:|---:|"
    )
    val rows =
      for ((nodes, partitions) <- Seq(2 -> 2, 5 -> 20, 5 -> 200, 20 -> 1000); granularity <- Granularity.all)
        yield row(nodes, partitions, granularity)
    val table = (head ++ rows.flatten).mkString("\n")
    Files.writeString(Path.of(args.head), s"$table\n")
    println(table)
  }

  /** None where the figures of one marker are as many as all partitions times all: as in Flink, nobody would want them. */
  private def row(nodes: Int, partitions: Int, granularity: Granularity): Option[String] =
    Option.when(granularity != Granularity.Subtask || partitions <= 200) {
      val marks = (0 until nodes).map(mark(_, nodes, partitions))
      val upstream = (1 until nodes).map(node => id(node) -> Seq(id(node - 1))).toMap.withDefaultValue(Nil)
      val work = (0 until 3).map(_ => collection.mutable.ArrayBuffer.empty[Double])
      for (round <- 1 - warmUps to rounds; (times, place) <- scala.util.Random.shuffle(work.zipWithIndex)) {
        val passes = new MarkerPasses(marks, upstream, _ => Some(ClockOffset.Same))
        val begin = System.nanoTime()
        require(passes.markedMs.nonEmpty)
        if (place == 0) require(passes.latencies(granularity, Now + 2000).nonEmpty)
        if (round > 0) times += (System.nanoTime() - begin) / 1000.0
      }
      val Seq(on, off, again) = work.map(times => times.sorted.apply(rounds / 2)): @unchecked
      val ofCores = 100 * (on - off) / (1e6 * cores)
      f"| $nodes | $partitions%,d | $granularity | $on%,.0f | $off%,.0f | $again%,.0f | $ofCores%.3f |"
    }

  private def id(node: Int): String = s"node-$node"

  private def mark(node: Int, nodes: Int, partitions: Int): MarkReadings = {
    val stage = if (node < nodes - nodes / 2) 1 else 2
    val readings = (0 until partitions).map { partition =>
      val attempt = TaskAttempt(stage, partition, (stage * partitions + partition).toLong)
      val slice = TaskSlice("executor", (Now + stage * 500) * 1000 + partition * 5000L, 9, 10, 8, node / 3f)
      Reading(partition, attempt, node.toLong, 0, LatencySummary.empty, LatencySummary.empty, None, slice)
    }
    MarkReadings(id(node), Measure.E2ELatency, 0, Set(id(node - 1)).filter(_ => node > 0), readings)
  }
}
