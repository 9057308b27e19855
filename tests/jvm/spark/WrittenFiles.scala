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

/** What queries write into files, to be compared. */
trait WrittenFiles extends AutomaticPlans {
  import WrittenFiles._

  protected def write(df: DataFrame, mode: String, format: String): Written = {
    listen()
    val out = TemporaryFolder("written")
    val name = s"output_${freshNode()}"
    val writer = df.writeStream.queryName(name).outputMode(mode).trigger(Trigger.AvailableNow())
    // A file takes appended rows only. What else a batch gives out is written into a folder of the batch.
    val sink =
      if (mode == "append")
        writer.format(format).option("path", out.toString)
          .option("checkpointLocation", TemporaryFolder("checkpoint").toString)
      else writer.foreachBatch((batch: DataFrame, id: Long) =>
        batch.write.format(format).save(out.resolve(s"batch-$id").toString)
      )
    val query = sink.start()
    val plans =
      try Plans.batches(spark.sparkContext)(query.awaitTermination()).values.toSeq
      finally query.stop()
    val markers = latencyOf(name).get("queries").elements.asScala.map(_.get("markers")).filterNot(_.isNull)
    Written(
      name,
      out,
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
}

object WrittenFiles {

  /** What a run wrote, by folder and partition, and what it carried there. */
  final case class Written(
      name: String,
      folder: Path,
      parts: Seq[(String, String)],
      hasOrder: Boolean,
      marks: Int,
      markers: Long
  )
}
