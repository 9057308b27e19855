package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.CountedStatement

/** Statements that change something. Spark runs one when its DataFrame is made, and never again: what follows reads its result. */
class StatementResultsSuite extends SparkTest {

  /** What `follow` makes of a statement's result, and how often the statement was run for it. */
  private def ran[A](follow: DataFrame => A): (A, Int) = {
    val runs = new AtomicInteger
    val made = follow(CountedStatement.result(spark, new Timestamp(Start - 7), runs))
    (made, runs.get)
  }

  test("a stamp on what a statement tells does not run the statement again") {
    val (rows, runs) = ran(_.withIngestionTimestamp("told_at").collect().toSeq)
    assert(rows.map(row => (row.getTimestamp(0), row.getInt(1), row.getTimestamp(2))) ===
      Seq((new Timestamp(Start - 7), 1, new Timestamp(Start))))
    assert(runs === 1)
  }

  test("a mark on what a statement tells does not run the statement again, and measures its rows") {
    val id = freshNode()
    val (_, runs) = ran(told => run(told.withE2ELatency(id, "ts")))
    assert(runs === 1)
    assert(node(id).figures === ((1, Some(7), Some(7))))
  }

  test("a mark by the hint on what a statement tells does not run the statement again") {
    val id = freshNode()
    val (_, runs) = ran(told => run(told.hint("E2E_LATENCY", id, "ts")))
    assert(runs === 1)
    assert(node(id).figures === ((1, Some(7), Some(7))))
  }

  test("rows that a statement inserts are there once") {
    spark.sql("CREATE TABLE inserted_once (id LONG) USING parquet")
    try {
      spark.sql("INSERT INTO inserted_once VALUES (1)").withIngestionTimestamp().collect()
      assert(spark.table("inserted_once").count() === 1)
    } finally {
      spark.sql("DROP TABLE inserted_once")
      ()
    }
  }
}
