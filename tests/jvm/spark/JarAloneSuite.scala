package org.apache.spark.sql.latency

import java.sql.Timestamp

import io.sparklatency.spark.SparkTest
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.TakeOrderedAndProjectExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.compat.SparkSession

/** A session without our extensions, as Python makes it on Spark 3.5. In Spark's own package for its constructor. */
class JarAloneSuite extends SparkTest {

  /** The constructor that all others call is private in Scala. Since Spark 4 it has a parameter more. */
  private def alone: SparkSession = {
    val make = classOf[SparkSession].getConstructors.maxBy(_.getParameterCount)
    val all = Seq[AnyRef](
      spark.sparkContext,
      Some(spark.sharedState),
      None,
      new SparkSessionExtensions,
      Map.empty,
      Map.empty
    )
    make.newInstance(all.take(make.getParameterCount): _*).asInstanceOf[SparkSession]
  }

  private def sorted(session: SparkSession): DataFrame =
    session.range(0, 1000, 1, 4).withColumn(
      "ts",
      lit(new Timestamp(Start - 5))
    ).toDF().orderBy(col("id").desc)

  test("a limit takes the first of the sorted rows, through a mark as without") {
    val session = alone
    val limited = sorted(session).withE2ELatency(freshNode(), "ts").limit(10)
    assert(limited.rdd.map(_.getLong(0)).collect().toSeq === (990L to 999L).reverse)
    assert(Plans.collectWithSubqueries(limited.queryExecution.executedPlan) {
      case top: TakeOrderedAndProjectExec => top.limit
    } === Seq(10))
  }
}
