package io.sparklatency.spark

import java.nio.file.Path
import java.sql.Timestamp

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ScannedSource
import org.apache.spark.sql.latency.TemporaryFolder

/** Automatic nodes over a source that reads a batch with several scans, and whose files have rows that its table has no more. */
class SeveralScansSuite extends StreamingTest with Patient {

  private def versions(of: DataFrame*): DataFrame = {
    val folder = TemporaryFolder("scanned")
    of.zipWithIndex.foreach { case (rows, i) =>
      rows.coalesce(1).write.parquet(folder.resolve(s"$i").toString)
    }
    read(folder)
  }

  private def read(folder: Path, options: (String, String)*): DataFrame =
    spark.readStream.format(classOf[ScannedSource].getName).options(options.toMap).load(folder.toString)

  private def written(ms: Long*): DataFrame = spark.createDataset(ago(ms: _*)).toDF("written")

  private def figures(df: DataFrame, name: String): Map[String, (Long, Option[Long], Option[Long])] = {
    val query = start(df, name)
    try processAll(query)
    finally query.stop()
    nodesOf(name).map(id => id -> node(id, name).figures).toMap
  }

  private val Source = "source-0-scanned"

  test(
    "a source that renames what its scans read is one node, by the watermarked column, and all of them count"
  ) {
    withSettings(atEnds: _*) {
      val source = versions(written(1, 2, 3), written(10, 20)).withWatermark("value", "10 seconds")
      val all = (5L, Some(1L), Some(20L))
      assert(figures(source, "scanned_all") === Map(Source -> all, "sink" -> all))
    }
  }

  test(
    "a source of several scans is one node by timestamps that nobody wrote, too; read twice it counts once"
  ) {
    withSettings(atEnds :+ ("spark.sparklatency.auto.ingestion" -> "true"): _*) {
      val source = versions(written(1, 2, 3), written(10, 20))
      val records = figures(source.union(source), "scanned_twice").map { case (id, of) => id -> of._1 }
      assert(records === Map(Source -> 5L, "sink" -> 10L))
    }
  }

  test("a source that runs a query of its own as it is made is made once, with automatic nodes and without") {
    val folder = TemporaryFolder("asking")
    written(1, 2, 3).coalesce(1).write.parquet(folder.resolve("0").toString)
    def asking = read(folder, "asks" -> "true").withWatermark("value", "10 seconds")
    val plain = start(asking, "scanned_asking_plain")
    try processAll(plain)
    finally plain.stop()
    withSettings(atEnds: _*) {
      val all = (3L, Some(1L), Some(3L))
      assert(figures(asking, "scanned_asking") === Map(Source -> all, "sink" -> all))
    }
  }

  test("all scans of a source show while their batch runs") {
    withSettings(atEnds: _*) {
      val hold = udf(HeldRows.hold _).asNondeterministic()
      val source = versions(written(1, 2, 3), written(4, 5, 6)).withWatermark("value", "10 seconds")
      val query =
        source.withColumn("id", hold(unix_seconds(col("value")))).writeStream.queryName("scanned_running")
          .foreachBatch { (batch: DataFrame, _: Long) =>
            batch.collect()
            eventually(assert(node(Source, "scanned_running").records > 3)) // more than one scan has
            ()
          }.start()
      try processAll(query)
      finally query.stop()
    }
  }

  test("rows that the files have and the table has no more are no records of the source") {
    val deleted = when(col("written") <= lit(new Timestamp(Start - 100)), 1).otherwise(0)
    def source = versions(written(1, 2, 300).withColumn("__delta_internal_is_row_deleted", deleted))
    withSettings(atEnds: _*) {
      val left = (2L, Some(1L), Some(2L))
      assert(figures(source.withWatermark("value", "10 seconds"), "scanned_deleted") ===
        Map(Source -> left, "sink" -> left))
    }
    withSettings(atEnds :+ ("spark.sparklatency.auto.ingestion" -> "true"): _*) {
      val records = figures(source, "scanned_deleted_stamps").map { case (id, of) => id -> of._1 }
      assert(records === Map(Source -> 2L, "sink" -> 2L))
    }
  }
}
