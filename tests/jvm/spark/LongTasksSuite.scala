package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.CountDownLatch

import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.ForeachWriter
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.latency.BrokenChannel

/** Tasks that run for minutes: what they record shows while they run, and counts once when they end. */
class LongTasksSuite extends LongTasksTest {

  /** A minute goes by with each record; then it waits. */
  private object DropSlowly extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit = SparkTest.clock.advance(60000)
    override def close(error: Throwable): Unit = LongTasksSuite.mayEnd.await()
  }

  test("while a batch runs, of which one node has shown more than the next, no share and no headline moves") {
    byTheWall {
      withSettings("spark.sparklatency.publish.after" -> "1s") {
        val input = stream
        val read = input.toDF().withE2ELatency("a", "value")
        val scored = read.filter(LongTasksSuite.heldIfOld(col("value"))).withE2ELatency("b", "value")
        val query = scored.writeStream.queryName("steady").foreach(Drop).start()
        def shown = {
          val answer = answerOf("steady")
          val shares = answer.get("nodes").elements.asScala.map(_.get("share").asDouble).toSeq
          (shares, answer.get("headline").get("text").asText, answer.get("parts").toString)
        }
        try {
          input.addData(new Timestamp(System.currentTimeMillis()))
          processAll(query)
          val before = shown
          assert(before._1.size === 2)
          input.addData(new Timestamp(System.currentTimeMillis() - 3600000))
          eventually(assert(figures("a", "steady").exists { case (records, _, max) =>
            records == 2 && max.exists(_ >= 3600000)
          }))
          assert(figures("b", "steady").map { case (records, _, _) => records } === Some(1))
          assert(shown === before)
        } finally {
          LongTasksSuite.mayShow.countDown()
          query.stop()
        }
      }
    }
  }

  test("while the first batch runs the way of records is known from its plan") {
    val input = stream
    val read = input.toDF().withE2ELatency("a", "value").withE2ELatency("b", "value")
    input.addData(ago(7)) // before the start: a first trigger that found nothing would have told its progress
    val query = start(read.filter(LongTasksSuite.heldAtFirst(col("value"))), "first_way")
    try {
      eventually(assert(Seq("a", "b").forall(figures(_, "first_way").exists(_._1 == 1))))
      assert(query.lastProgress === null)
      assert(waysOf("first_way") === Seq("a" -> Nil, "b" -> Seq("a")))
    } finally {
      LongTasksSuite.mayPass.countDown()
      query.stop()
    }
  }

  test(
    "the oldest record that waits is known by its timestamp, though time went by before its task told of it"
  ) {
    val input = stream
    ago(7, 2).foreach(input.addData(_))
    val marked = input.toDF().withE2ELatency("node", "value")
    val query = marked.writeStream.queryName("told_late").foreach(DropSlowly).start()
    try {
      eventually(assert(figures("node", "told_late").exists(_._1 == 2)))
      eventually(assert(answerOf("told_late").get("oldestUncommitted").asLong === 120007))
    } finally {
      LongTasksSuite.mayEnd.countDown()
      query.stop()
    }
  }

  test("what a task tells that began under an application which has ended is for nobody") {
    val (id, rows) = (freshNode(), spark.range(0, 6, 1, 1))
    val slow = rows.select(udf(HeldRows.hold _).asNondeterministic()(col("id")).as("id"))
    val ended = Future(run(slow.withColumn("ts", timestamp_millis(lit(Start - 1))).withE2ELatency(id, "ts")))
    eventually(assert(findNode(id).exists(_.records > 0)))
    BrokenChannel.during(())
    val shown = node(id).records
    while (!ended.isCompleted) {
      assert(Set(shown, 6L)(node(id).records))
      Thread.sleep(20) // to leave the task a processor
    }
    assert(node(id).records === 6)
  }
}

object LongTasksSuite {
  private val mayEnd = new CountDownLatch(1)

  private val mayPass = new CountDownLatch(1)
  private val heldAtFirst = udf { (_: Timestamp) => mayPass.await(); true }.asNondeterministic()

  private val mayShow = new CountDownLatch(1)
  private val heldIfOld = udf { (at: Timestamp) =>
    if (at.getTime < System.currentTimeMillis() - 1800000) mayShow.await()
    true
  }.asNondeterministic()
}
