package io.sparklatency.spark

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.ListenerBus

/** Which records a limit left behind, of a query that reads a file a batch. By the clock on the wall, as Spark's progress is. */
class BacklogSuite extends StreamingTest {

  /** The parts of the age of the records in the third of three files, which was last changed at this time. */
  private def parts(name: String, changedMs: Long): Seq[JsonNode] = {
    val (folder, now) = (Files.createTempDirectory(name), System.currentTimeMillis)
    for ((changed, number) <- Seq(now - 20000, now - 10000, changedMs).zipWithIndex) {
      val file = folder.resolve(s"$number.json")
      Files.writeString(file, s"""{"at": ${now - 60000}}""")
      assert(file.toFile.setLastModified(changed))
    }
    val read = spark.readStream.schema("at LONG").option("maxFilesPerTrigger", 1).json(folder.toString)
    val marked = read.selectExpr("timestamp_millis(at) AS ts").withE2ELatency("source", "ts")
    val query = marked.writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
      batch.write.format("noop").mode("append").save()
    }.start()
    try {
      query.processAllAvailable()
      ListenerBus.awaitEmpty(spark.sparkContext)
      latencyOf(name).get("queries").get(0).get("parts").get("of").elements.asScala.toSeq
    } finally query.stop()
  }

  test("a file that came after the batch before had looked was not left behind") {
    byTheWall {
      val later = parts("came_later", System.currentTimeMillis + 3600000)
      assert(later.map(_.get("code").asText).contains("arrived-old"))
      assert(!later.map(_.get("code").asText).contains("backlog"), later)
    }
  }
}
