package io.sparklatency.spark

import org.apache.spark.sql.ForeachWriter
import org.apache.spark.sql.Row

/** A sink that drops everything. Other than `noop` real-time mode takes it. */
class Drop[A] extends ForeachWriter[A] {
  override def open(partition: Long, epoch: Long): Boolean = true
  override def process(row: A): Unit = ()
  override def close(error: Throwable): Unit = ()
}

object Drop extends Drop[Row]
