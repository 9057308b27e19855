package io.sparklatency.spark

import java.nio.file.Path

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder

/** Streaming queries with latency markers, most of them over files that have no timestamp, and their markers as a user reads them. */
trait MarkersTest extends StreamingTest with Patient with Ui {
  protected def written(lines: Int, files: Int): String = {
    val folder = TemporaryFolder("lines").toString
    spark.range(
      0,
      lines.toLong,
      1,
      files
    ).select(col("id").cast("string")).write.mode("overwrite").text(folder)
    folder
  }

  protected lazy val texts = written(lines = 20, files = 2)
  protected lazy val one = written(lines = 1, files = 1)
  protected def files: DataFrame = files(spark)
  protected def files(session: SparkSession): DataFrame = session.readStream.text(texts)
  protected def line: DataFrame = spark.readStream.text(one)
  protected def source = s"source-0-file[${Path.of(one).getFileName}]"

  protected val interval = "spark.sparklatency.markers.interval"
  protected val on = Seq(interval -> "1s")

  /** Each file is a partition. */
  protected val byFile =
    Seq("spark.sql.files.maxPartitionBytes" -> "64", "spark.sql.files.openCostInBytes" -> "0")

  /** Of each histogram: how many markers since the start, and the shortest and longest time of the window. */
  protected def markers(query: String): Map[String, (Long, Option[Long], Option[Long])] =
    figuresOf(query, "latency")

  /** The same of the last batch that had some; where no batch ends, of the last second. */
  protected def lastMarkers(query: String): Map[String, (Long, Option[Long], Option[Long])] =
    figuresOf(query, "last")

  private def figuresOf(query: String, of: String): Map[String, (Long, Option[Long], Option[Long])] =
    queryOf(query).get("markers").get("of").elements.asScala.map { one =>
      def text(tag: String) = Option(one.get(tag)).filterNot(_.isNull).map(_.asText)
      def figure(name: String) = Option(one.get(of).get(name)).filterNot(_.isNull).map(_.asLong)
      val place =
        Seq("source_id", "source_subtask_index", "operator_id", "operator_subtask_index").flatMap(text)
      place.mkString(" ") -> ((figure("count").get, figure("min"), figure("max")))
    }.toMap

  protected def ran[A](df: DataFrame, mode: String = "append")(read: String => A): A = {
    val name = s"markers_${freshNode()}"
    val query = start(df, name, mode)
    try {
      processAll(query)
      read(name)
    } finally query.stop()
  }

  protected def blocking(ms: Long) = slow(ms)(lit(1L))
}
