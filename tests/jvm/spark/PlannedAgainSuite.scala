package io.sparklatency.spark

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.functions.lit

/** A statement that fails while it is planned: nobody plans it once more for its end. */
class PlannedAgainSuite extends SparkTest {
  for (
    failure <- Seq[() => Throwable](
      () => new StackOverflowError("on purpose"),
      () => new InterruptedException("on purpose")
    )
  )
    test(s"what fails by ${failure().getClass.getSimpleName} is planned by its own thread alone") {
      listen()
      val planned = new ConcurrentLinkedQueue[String]
      object Failing extends Rule[LogicalPlan] {
        override def apply(plan: LogicalPlan): LogicalPlan = {
          if (
            plan.expressions.exists(_.exists {
              case Literal(value, _) => s"$value" == "too deep"; case _ => false
            })
          ) {
            planned.add(Thread.currentThread.getName)
            throw failure()
          }
          plan
        }
      }
      val before = spark.experimental.extraOptimizations
      spark.experimental.extraOptimizations = Seq(Failing)
      try {
        assert(
          intercept[Throwable](spark.range(3).select(lit("too deep")).collect()).getMessage === "on purpose"
        )
        latencyOf(null) // all that was told before is known
      } finally spark.experimental.extraOptimizations = before
      assert(planned.asScala.toSet === Set(Thread.currentThread.getName))
      assert(!spark.sparkContext.isStopped)
    }
}
