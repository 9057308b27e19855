package io.sparklatency.spark

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.Plans

/** Plans with automatic nodes beside those without. */
class AutomaticPlansSuite extends AutomaticPlans with Sampled with Patient {

  /** Those that drop their timestamp: it comes along to the end, where one more projection drops it, and to the end of an aggregation. */
  private val carries = Map(
    "pruned without the timestamp" -> 1,
    "pushed filter and projection" -> 1,
    "rate without its timestamp" -> 1,
    "window aggregate as text" -> 2
  )

  private val withMarkers = "spark.sparklatency.markers.interval" -> "1ms"

  private def assertCarries(automatic: String, plain: String, more: Int): Unit = {
    def parts(plan: String) = plan.linesIterator.map(_.trim).toSeq.partition(_.startsWith("Project "))
    val ((projections, others), (before, rest)) = (parts(automatic), parts(plain))
    assert(others === rest)
    assert(projections.size === before.size + more)
  }

  private val claims = Seq(
    "automatic nodes leave the plan as it is",
    "NONE leaves no node of any kind",
    "latency markers leave the plan as it is"
  )

  for (((name, mode, plan), claim) <- sample.part(sample.of(plans, claims)))
    test(s"$claim: $name") {
      // Of the first batch with data: what a stateful query runs last has none, and its plan compares nothing.
      def run(): SparkPlan = {
        var withData = -1L
        val batches = Plans.batches(spark.sparkContext) {
          val query = start(plan(), s"plan_${freshNode()}", mode)
          def read = query.recentProgress.find(_.numInputRows > 0)
          try {
            // The rate source always has more.
            if (name.startsWith("rate")) eventually(assert(read.nonEmpty))
            else processAll(query)
            withData = read.fold(fail("no batch read data"))(_.batchId)
          } finally query.stop()
        }
        batches(withData)
      }
      val plain = run()
      assert(Plans.marks(plain) === 0)
      if (claim != claims(1))
        withSettings((if (claim == claims.head) everything else everything :+ withMarkers): _*) {
          val automatic = run()
          carries.get(name) match {
            case Some(more) => assertCarries(Plans.withoutMarks(automatic), Plans.withoutMarks(plain), more)
            case None => assert(Plans.withoutMarks(automatic) === Plans.withoutMarks(plain))
          }
          assert(Plans.marks(automatic) > 0)
        }
      else
        withSettings(everything :+ ("spark.sparklatency.recording.level" -> "NONE"): _*) {
          isMarkedByHand = true
          val none =
            try run()
            finally isMarkedByHand = false
          assert(Plans.marks(none) === 0)
          assert(Plans.withoutMarks(none) === Plans.withoutMarks(plain))
        }
    }
}
