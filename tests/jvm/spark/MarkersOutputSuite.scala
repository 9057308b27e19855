package io.sparklatency.spark

import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.Trigger

/** What queries of every shape write with latency markers and without: the same, byte for byte. */
class MarkersOutputSuite extends AutomaticPlans with Sampled {

  /** What a run wrote, by folder and partition, and what it carried there. */
  private case class Written(parts: Seq[(String, String)], hasOrder: Boolean, marks: Int, markers: Long) {
    def lines: Seq[String] = parts.flatMap(_._2.linesIterator)
    def comparable: Seq[Any] = if (hasOrder) parts else lines.sorted
  }

  private def run(df: DataFrame, mode: String): Written = {
    latencyOf(null) // without a mark nobody else makes the application, which is to know of the query
    val out = TemporaryFolder("written")
    val name = s"output_${freshNode()}"
    val writer = df.writeStream.queryName(name).outputMode(mode).trigger(Trigger.AvailableNow())
    // A file takes appended rows only. What else a batch gives out is written into a folder of the batch.
    val sink =
      if (mode == "append")
        writer.format("json").option("path", out.toString)
          .option("checkpointLocation", TemporaryFolder("checkpoint").toString)
      else writer.foreachBatch((batch: DataFrame, id: Long) =>
        batch.write.json(out.resolve(s"batch-$id").toString)
      )
    val query = sink.start()
    val plans =
      try Plans.batches(spark.sparkContext)(query.awaitTermination()).values.toSeq
      finally query.stop()
    val markers = latencyOf(name).get("queries").elements.asScala.map(_.get("markers")).filterNot(_.isNull)
    Written(
      parts(out),
      plans.forall(hasOrder),
      plans.map(Plans.marks).sum,
      markers.map(_.get("count").asLong).sum
    )
  }

  /** Behind a shuffle no row has a place of its own, neither in a part nor in one rather than another, unless a sort gives it one. */
  private def hasOrder(plan: SparkPlan): Boolean =
    Plans.collect(plan) { case shuffle: ShuffleExchangeExec => shuffle }.isEmpty ||
      Plans.collect(plan) { case SortExec(_, global, _, _) if global => () }.nonEmpty

  /** Each part file by its folder and its number, without the name that Spark makes up, and without those that are empty. */
  private def parts(out: Path): Seq[(String, String)] = Using.resource(Files.walk(out)) { files =>
    files.iterator.asScala.filter(_.getFileName.toString.startsWith("part-")).map { file =>
      val part = file.getFileName.toString.take("part-00000".length)
      s"${out.relativize(file.getParent)}/$part" ->
        new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1)
    }.filter(_._2.nonEmpty).toSeq.sorted
  }

  private val markers = "spark.sparklatency.markers.interval" -> "1ms"

  for ((name, mode, plan) <- sample.part(plans))
    test(s"what is written stays the same, byte for byte, with markers: $name") {
      val plain = run(plan(), mode)
      assert(plain.lines.nonEmpty && plain.marks === 0 && plain.markers === 0)
      withSettings(everything :+ markers: _*) {
        val marked = run(plan(), mode)
        assert(marked.hasOrder === plain.hasOrder)
        assert(marked.comparable === plain.comparable)
        assert(marked.marks > 0 && marked.markers > 0)
      }
    }
}
