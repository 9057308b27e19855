package io.sparklatency.spark

import java.sql.Timestamp

import scala.reflect.ClassTag

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.latency.ScannedSource
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.Trigger

/** What limits of their own leave behind: those of Delta, Iceberg and Paimon. By the clock on the wall. */
class TableLimitsSuite extends BacklogTest {

  for ((how, options) <- Seq("alone" -> Nil, "with_others" -> Seq("several" -> "true")))
    test(s"what is left is told where a source has a limit by bytes of its own, as Delta has, $how") {
      byTheWall {
        val folder = TemporaryFolder("own")
        val event = lit(new Timestamp(System.currentTimeMillis - 60000)).as("written")
        for (version <- 0 to 2)
          spark.range(0, 1, 1, 1).select(event).write.parquet(folder.resolve(version.toString).toString)
        val read = spark.readStream.format(classOf[ScannedSource].getName).option("maxBytes", "10").options(
          options.toMap
        ).load(folder.toString)
        val query = start(read.withE2ELatency("source", "value"), s"own_limit_$how")
        try {
          processAll(query)
          val told = queryOf(s"own_limit_$how")
          assert(codes(told).contains("backlog"), told.get("parts"))
          assert(told.get("headline").get("text").asText.contains("maxBytesPerTrigger"), told.get("headline"))
        } finally query.stop()
      }
    }

  /** What the headline says when the last batch of a stream of Iceberg has been read that starts late, and how its node is called. */
  private def toldOfIceberg(name: String, limit: ReadLimit): (String, String) =
    toldOfTable[FrozenSource](name, limit)

  private def toldOfTable[A](name: String, limit: ReadLimit)(implicit
      table: ClassTag[A]
  ): (String, String) = {
    FrozenSource.limit = limit
    val read = spark.readStream.format(table.runtimeClass.getName).load().withWatermark("value", "1 hour")
    val query = withSettings("spark.sparklatency.auto" -> "source") {
      read.writeStream.queryName(name).trigger(Trigger.ProcessingTime("1 second")).format("noop").start()
    }
    try {
      processAll(query)
      val told = queryOf(name)
      (told.get("headline").get("text").asText, told.get("nodes").get(0).get("node").asText)
    } finally query.stop()
  }

  test("Iceberg leaves files behind where a batch reads as many as it may, and never says so") {
    byTheWall {
      val (headline, node) = toldOfIceberg("of_files", ReadLimit.maxFiles(2))
      assert(headline.contains("streaming-max-files-per-micro-batch "), headline)
      assert(node == "source-0-iceberg[local.db.frozen]")
    }
  }

  test("Iceberg leaves rows behind where a batch has read as many as it may, or a few more") {
    byTheWall {
      val several = ReadLimit.compositeLimit(Array(ReadLimit.maxFiles(1000), ReadLimit.maxRows(3)))
      val (headline, _) = toldOfIceberg("of_rows", several)
      assert(headline.contains("streaming-max-rows-per-micro-batch "), headline)
    }
  }

  test("Iceberg leaves nothing behind where it reads all that there is") {
    byTheWall {
      val (headline, _) = toldOfIceberg("of_all", ReadLimit.maxFiles(1000))
      assert(!headline.contains("micro-batch"), headline)
    }
  }

  for (
    (limit, option) <- Seq(
      ReadLimit.maxFiles(2) -> "read.stream.maxFilesPerTrigger",
      ReadLimit.maxRows(3) -> "read.stream.maxRowsPerTrigger",
      FrozenSource.ReadMaxBytes(150) -> "read.stream.maxBytesPerTrigger"
    )
  ) test(s"Paimon leaves some behind where a batch reads as much as $option lets it, and never says so") {
    byTheWall {
      val (headline, node) = toldOfTable[PaimonSource](option, ReadLimit.compositeLimit(Array(limit)))
      assert(headline.contains(s"$option "), headline)
      assert(node == "source-0-paimon")
    }
  }
}
