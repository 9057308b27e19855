package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.streaming.GroupState

/** What streaming queries move and keep, with ingestion stamps and without. */
trait StampCosts extends StreamingTest {
  import StampCosts._

  protected implicit val texts: Encoder[String] = Encoders.STRING
  protected implicit val counts: Encoder[Long] = Encoders.scalaLong
  protected implicit val events: Encoder[Event] = Encoders.product[Event]

  /** What a query moves and keeps, by Spark's own metrics. */
  protected case class Cost(
      rows: Seq[String],
      bytes: Long,
      written: Long,
      records: Long,
      stateRows: Long,
      stateBytes: Long
  )

  protected def run(df: DataFrame, mode: String): Cost = {
    val query = start(df, s"unread_${freshNode()}", mode)
    try {
      val plans = Plans.batches(spark.sparkContext)(processAll(query))
      val exchanges = Plans.collect(plans(0)) { case exchange: ShuffleExchangeExec => exchange }
      def sum(metric: String): Long = exchanges.map(_.metrics(metric).value).sum
      val states = query.recentProgress.head.stateOperators
      Cost(
        exchanges.map(_.schema.map(_.dataType.sql).sorted.mkString(", ")).sorted,
        sum("dataSize"),
        sum("shuffleBytesWritten"),
        sum("shuffleRecordsWritten"),
        states.map(_.numRowsTotal).sum,
        states.map(_.memoryUsedBytes).sum
      )
    } finally query.stop()
  }

  protected def cost(stamped: Boolean, mode: String, shape: (DataFrame, DataFrame) => DataFrame): Cost = {
    def events(): DataFrame = {
      val input = stream
      input.addData(ago(1L to 40L: _*))
      if (stamped) watermarked(input).withIngestionTimestamp() else watermarked(input)
    }
    run(shape(events(), events()), mode)
  }

  protected def force: (String, String) = "spark.sparklatency.forceTimestampSupport" -> "true"
}

object StampCosts {
  case class Event(value: Timestamp)

  def counting(key: String, rows: Iterator[Event], state: GroupState[Long]): Iterator[String] = {
    state.update(state.getOption.getOrElse(0L) + rows.size)
    Iterator(key)
  }
}
