package org.apache.spark.sql.latency

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.connector.read.streaming.ReadAllAvailable
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl
import org.apache.spark.sql.connector.read.streaming.{Offset => ReadOffset}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.streaming.Offset
import org.apache.spark.sql.execution.streaming.Source
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.latency.compat.Dataset
import org.apache.spark.sql.sources.StreamSourceProvider
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType

/**
 * A source of the kind that tables with a log of their own have, such as Delta. Each version is a folder `0`, `1`, … of Parquet files with a
 * column `written`. A batch reads each version with a scan of its own, and gives the column another name. Of rows whose column
 * `__delta_internal_is_row_deleted` is not 0 there are no more. With the option `asks` it runs a query of its own as it is made.
 */
class ScannedSource extends StreamSourceProvider {
  import ScannedSource._

  override def sourceSchema(
      context: SQLContext,
      schema: Option[StructType],
      provider: String,
      options: Map[String, String]
  ): (String, StructType) = "scanned" -> Schema

  override def createSource(
      context: SQLContext,
      metadata: String,
      schema: Option[StructType],
      provider: String,
      options: Map[String, String]
  ): Source = {
    if (options.contains("asks")) assert(context.range(3).count() == 3)
    new Scanned(context, options)
  }
}

object ScannedSource {
  private val Schema = new StructType().add("value", TimestampType)

  private final case class Version(number: Int) extends Offset {
    override def json(): String = number.toString
  }

  /** As Delta has them: classes of its own. */
  private final case class ReadMaxBytes(maxBytes: Long) extends ReadLimit
  private final case class SeveralLimits(bytes: ReadMaxBytes, most: ReadLimit) extends ReadLimit

  /** A batch is one version where there is a limit. */
  private final class Scanned(context: SQLContext, options: Map[String, String])
      extends Source with SupportsAdmissionControl {

    override def schema: StructType = Schema
    override def getOffset: Option[Offset] = throw new UnsupportedOperationException
    override def stop(): Unit = ()

    override def getDefaultReadLimit: ReadLimit = {
      val bytes = options.get("maxBytes").map(most => ReadMaxBytes(most.toLong))
      if (options.contains("several")) SeveralLimits(bytes.get, ReadLimit.maxFiles(1000))
      else bytes.getOrElse(ReadLimit.allAvailable())
    }

    override def latestOffset(start: ReadOffset, limit: ReadLimit): ReadOffset = {
      val from = Option(start).fold(0)(number)
      val all = Iterator.from(from).dropWhile(number => folder(number).toFile.isDirectory).next()
      limit match {
        case _: ReadAllAvailable => Version(all)
        case _ => Version(all.min(from + 1))
      }
    }

    override def getBatch(start: Option[Offset], end: Offset): DataFrame =
      (start.fold(0)(number) until number(end)).map(scan).reduce(_ union _)

    private def folder(number: Int) = java.nio.file.Path.of(options("path"), number.toString)
    private def number(offset: ReadOffset): Int = offset.json.toInt

    private def scan(version: Int): DataFrame = {
      val read = context.sparkSession.read.parquet(folder(version).toString).asInstanceOf[Dataset[_]]
      val plan = read.queryExecution.analyzed.transform { case table: LogicalRelation =>
        LogicalRelation(table.relation, isStreaming = true)
      }
      val rows = Dataset.ofRows(read.sparkSession, plan)
      val deleted = "__delta_internal_is_row_deleted"
      val left = if (rows.columns.contains(deleted)) rows.where(col(deleted) === 0) else rows
      left.select(col("written").as("value"))
    }
  }
}
