package io.sparklatency.spark

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.Plans

/** Plans with automatic nodes beside those without. */
class AutomaticPlansSuite extends AutomaticPlans with Sampled with Patient {

  private val withMarkers = "spark.sparklatency.markers.interval" -> "1ms"

  /**
   * A plan, with these two in place of its own projection at the end; an aggregation that ends with one has none. Where the end is not
   * compiled they are a stage of generated code by themselves: Spark 3.5 has no code for `to_json`.
   */
  private def carrying(plan: String, projections: (String, String)): String = {
    val (above, from) = plan.linesIterator.toSeq.span(line =>
      !Seq("Project", "HashAggregate").exists(line.trim.startsWith)
    )
    val (own, below) = from.span(_.trim.startsWith("Project"))
    assert(own.size <= 1)
    def stages(lines: Seq[String]) = lines.count(_.trim.startsWith("WholeStageCodegen"))
    val two = Seq(projections._1, projections._2)
    val ours =
      if (stages(above) > 0) two else s"WholeStageCodegen (${stages(below) + 1})" +: two :+ "InputAdapter"
    val depth = from.head.takeWhile(_ == ' ')
    val deeper = " " * (ours.size - own.size)
    (above ++ ours.zipWithIndex.map { case (line, more) => depth + " " * more + line } ++
      below.map(deeper + _)).mkString("\n")
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
          val expected = carries.get(name).fold(identity[String] _)(two => carrying(_, two))
          assert(Plans.withoutMarks(automatic) === expected(Plans.withoutMarks(plain)))
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
